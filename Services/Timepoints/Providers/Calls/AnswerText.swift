import Foundation
import Synchronization
import Wire

extension String {
  /// Without the code fence that some models put around JSON.
  var withoutFence: String {
    let text = trimmingCharacters(in: .whitespacesAndNewlines)
    guard text.hasPrefix("```"), text.hasSuffix("```"), let lineEnd = text.firstIndex(where: \.isNewline) else {
      return text
    }
    return String(text[lineEnd...].dropLast(3))
  }

  /// Without characters that no text has, such as NUL, which databases do not take.
  var withoutControls: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.filter { !$0.isControl }))
  }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool {
    properties.generalCategory == .control && self != "\n" && self != "\t"
  }
}

extension JSONValue {
  /// With all texts trimmed and without control characters.
  var withoutControls: JSONValue {
    switch self {
    case .string(let text): .string(text.withoutControls.trimmingCharacters(in: .whitespacesAndNewlines))
    case .array(let values): .array(values.map(\.withoutControls))
    case .object(let members): .object(members.mapValues(\.withoutControls))
    case .null, .bool, .integer, .number: self
    }
  }

  /// All texts in it.
  var texts: [String] {
    switch self {
    case .string(let text): [text]
    case .array(let values): values.flatMap(\.texts)
    case .object(let members): members.values.flatMap(\.texts)
    case .null, .bool, .integer, .number: []
    }
  }
}

/// The ``StreamGuard`` of one stream, whose pieces come one after the other.
final class GuardedStream: Sendable {
  private let state: Mutex<StreamGuard>

  init(_ instructions: InstructionGuard) { state = Mutex(StreamGuard(instructions)) }

  func isRepeated(with piece: String) -> Bool { state.withLock { $0.isRepeated(with: piece) } }
}
