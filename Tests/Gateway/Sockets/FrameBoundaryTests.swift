import Support
import Testing

@testable import Gateway

/// Frame boundaries are found in pieces of any size.
@Suite struct FrameBoundaryTests {
  private static func frame(_ opcode: UInt8, _ length: Int, isMasked: Bool) -> [UInt8] {
    let mask: UInt8 = isMasked ? 0x80 : 0
    var bytes: [UInt8] = [0x80 | opcode]
    switch length {
    case ..<126: bytes.append(mask | UInt8(length))
    case ..<65536: bytes += [mask | 126, UInt8(length >> 8), UInt8(length & 0xFF)]
    default: bytes += [mask | 127] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
    }
    if isMasked { bytes += [1, 2, 3, 4] }
    // A payload that looks like a Close frame.
    return bytes + (0..<length).map { $0 % 2 == 0 ? 0x88 : 0x00 }
  }

  @Test(arguments: [0, 1, 2, 125, 126, 127, 65535, 65536, 70000])
  func theEndOfAFrameOfAnyLengthIsFound(length: Int) {
    for isMasked in [false, true] {
      let bytes = Self.frame(0x2, length, isMasked: isMasked)
      var whole = FrameBoundary()
      #expect(whole.allowsFrame)
      whole.advance(over: bytes.span)
      #expect(whole.isReached && whole.allowsFrame)
      for cut in [1, 2, 3, 9, 10, 13, 14, bytes.count / 2, bytes.count - 1] where cut > 0 && cut < bytes.count {
        var boundary = FrameBoundary()
        boundary.advance(over: bytes.span.extracting(..<cut))
        #expect(!boundary.isReached && !boundary.allowsFrame, "\(length) at \(cut)")
        let rest = Array(bytes[cut...]) + [0x81, 0x00]
        #expect(boundary.advanceToEnd(in: rest.span) == bytes.count - cut)
        #expect(boundary.isReached)
      }
    }
  }

  @Test func piecesOfAnySizeGiveTheSameBoundaries() {
    var random = SeededRandom(seed: 7)
    for _ in 0..<200 {
      var ends: Set<Int> = [0]
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        let length = [0, 1, 100, 126, 300, 70000].randomElement(using: &random) ?? 0
        bytes += Self.frame([0x0, 0x1, 0x2, 0x9, 0xA].randomElement(using: &random) ?? 1, length, isMasked: false)
        ends.insert(bytes.count)
      }
      var boundary = FrameBoundary()
      var index = 0
      while index < bytes.count {
        let count = min(Int.random(in: 1...5000, using: &random), bytes.count - index)
        boundary.advance(over: bytes.span.extracting(index..<index + count))
        index += count
        #expect(boundary.isReached == ends.contains(index))
      }
      #expect(!boundary.hasClosed)
    }
  }

  @Test func afterACloseFrameNothingMayFollow() {
    var boundary = FrameBoundary()
    boundary.advance(over: Self.frame(0x8, 2, isMasked: false).span)
    #expect(boundary.isReached && boundary.hasClosed && !boundary.allowsFrame)
  }

  @Test func aLengthThatNoFrameHasDoesNoHarm() {
    var boundary = FrameBoundary()
    let bytes: [UInt8] = [0x82, 127] + [UInt8](repeating: 0xFF, count: 8) + [0, 0]
    boundary.advance(over: bytes.span)
    #expect(!boundary.allowsFrame)
  }
}
