import Foundation
import Wire

/// By what a request names somebody.
enum PersonName: Sendable, Hashable {
  case email(String)
  /// A number or a UUID.
  case id(String)
  /// What is nobody's name here: a phone number, or any other text.
  case nobody

  init(_ text: String) {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    if text.contains("@") {
      self = .email(text)
    } else if UserID(text) != nil || (!text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }) {
      self = .id(text)
    } else {
      self = .nobody
    }
  }

  /// Whether it is this person's, as far as is known of them here.
  func isName(of person: Person) -> Bool {
    switch self {
    case .email(let address): person.email?.lowercased() == address.lowercased()
    case .id(let text): UserID(text) == person.id || (Int(text) == person.number && person.number > 0)
    case .nobody: false
    }
  }
}
