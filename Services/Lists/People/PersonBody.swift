import Foundation
import Wire

/// The JSON of a user, as other members of a list see them.
struct PersonBody: Encodable, Sendable {
  let id: Int
  let email: String
  @NullCodable var name: String?

  init(_ person: Person) { self.init(person, enteredEmail: nil) }

  /// - Parameter enteredEmail: the address that the caller has entered to add this user; shown when theirs is hidden.
  init(_ person: Person, enteredEmail: String?) {
    id = person.number
    email = person.email ?? enteredEmail ?? ""
    _name = NullCodable(wrappedValue: person.name)
  }

  private init(unknownUserAt email: String) {
    id = 0
    self.email = email
    _name = NullCodable(wrappedValue: nil)
  }

  /// Stands for a person who was invited by an e-mail address.
  static func invited(_ email: String) -> PersonBody { PersonBody(unknownUserAt: email) }

  /// Stands for a user who has deleted their account. No user has number 0.
  static let deletedAccount = PersonBody(unknownUserAt: "")
}
