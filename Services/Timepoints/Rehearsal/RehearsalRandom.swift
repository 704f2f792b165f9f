/// Numbers that follow from a text (SplitMix64 after FNV-1a).
struct RehearsalRandom: RandomNumberGenerator {
  private var state: UInt64

  init(_ text: String) {
    state = text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
    return bits ^ (bits >> 31)
  }

  /// One of the texts; empty for none.
  mutating func pick(_ texts: [String]) -> String {
    texts.isEmpty ? "" : texts[Int(next() % UInt64(texts.count))]
  }

  /// The first `count` of the texts in an order that follows from the seed.
  mutating func pick(_ count: Int, of texts: [String]) -> [String] {
    var rest = texts
    var picked: [String] = []
    while picked.count < count, !rest.isEmpty { picked.append(rest.remove(at: Int(next() % UInt64(rest.count)))) }
    return picked
  }
}
