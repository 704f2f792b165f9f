import Testing

@testable import Wire

@Suite struct RandomBitsTests {
  @Test func noneIsGivenTwice() async {
    let given = await withTaskGroup(of: [UInt128].self) { group in
      for _ in 0..<8 { group.addTask { (0..<5000).map { _ in RandomBits.next() } } }
      return await group.reduce(into: []) { $0 += $1 }
    }
    #expect(Set(given).count == 40_000)
    // Each bit is set in about half of them.
    for bit in 0..<128 {
      let count = given.count { $0 >> UInt128(bit) & 1 == 1 }
      #expect((19_000...21_000).contains(count), "bit \(bit) is set in \(count)")
    }
  }
}
