import Foundation
import Wire

/// The text by which a request identifies a user.
enum PersonIdentifier: Sendable, Hashable {
  case email(String)
  /// A user number or a UUID.
  case id(String)
  /// Text that identifies no user here: a phone number, or anything else.
  case unsupported

  init(_ text: String) {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    if text.contains("@") {
      self = .email(text)
    } else if UserID(text) != nil || (!text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }) {
      self = .id(text)
    } else {
      self = .unsupported
    }
  }

  /// Whether it identifies this person. An e-mail address does so only when `person` includes theirs.
  func identifies(_ person: Person) -> Bool {
    switch self {
    case .email(let address): person.email?.lowercased() == address.lowercased()
    case .id(let text): UserID(text) == person.id || (Int(text) == person.number && person.number > 0)
    case .unsupported: false
    }
  }
}
