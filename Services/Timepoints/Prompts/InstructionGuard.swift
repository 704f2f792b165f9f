import Synchronization

/// Recognises answers that repeat the instructions of a prompt word by word.
struct InstructionGuard: Sendable {
  /// A repetition of 48 letters and digits is found, one of fewer than 40 is not: that many in a row are no coincidence.
  private static let length = 40
  private static let stride = 8
  private let pieces: Set<ArraySlice<UInt8>>

  init(_ instructions: String) {
    pieces = Set(Self.pieces(of: Self.normalized(instructions), every: 1))
  }

  /// Whether a piece of the instructions stands in the text, whatever its case, spaces and punctuation.
  func isRepeated(in text: String) -> Bool {
    Self.pieces(of: Self.normalized(text), every: Self.stride).contains { pieces.contains($0) }
  }

  private static func pieces(of bytes: [UInt8], every step: Int) -> some Sequence<ArraySlice<UInt8>> {
    Swift.stride(from: 0, through: bytes.count - length, by: step).lazy.map { bytes[$0..<$0 + length] }
  }

  /// Letters and digits in lower case.
  private static func normalized(_ text: String) -> [UInt8] {
    text.unicodeScalars.reduce(into: []) { bytes, scalar in
      if scalar.isASCII {
        guard let byte = UInt8(exactly: scalar.value) else { return }
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): bytes.append(byte)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): bytes.append(byte + 32)
        default: break
        }
      } else {
        bytes += Array(String(scalar).lowercased().utf8)
      }
    }
  }
}

/// A guard that is made when it is first used: those of all prompts take megabytes, and time at the start.
final class LazyInstructionGuard: Sendable {
  private let instructions: String
  private let made = Mutex<InstructionGuard?>(nil)

  init(_ instructions: String) { self.instructions = instructions }

  var value: InstructionGuard {
    made.withLock { made in
      let value = made ?? InstructionGuard(instructions)
      made = value
      return value
    }
  }
}

/// Watches an answer that comes in pieces.
struct StreamGuard {
  private let instructions: InstructionGuard
  private var tail = ""
  private static let tailMax = 200

  init(_ instructions: InstructionGuard) { self.instructions = instructions }

  /// Whether the answer repeats the instructions with this piece.
  mutating func isRepeated(with piece: String) -> Bool {
    let text = tail + piece
    tail = String(text.suffix(Self.tailMax))
    return instructions.isRepeated(in: text)
  }
}
