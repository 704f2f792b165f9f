import ClientBodies
import Foundation
import Wire

/// A user, as other members of a list see them.
extension SharedList.Person {
  init(_ person: Wire.Person) { self.init(person, enteredEmail: nil) }

  /// - Parameter enteredEmail: the address that the caller has entered to add this user; shown when theirs is hidden.
  init(_ person: Wire.Person, enteredEmail: String?) {
    self.init(id: person.number, name: person.name, email: person.email ?? enteredEmail ?? "")
  }

  /// Stands for a person who was invited by an e-mail address.
  static func invited(_ email: String) -> Self { Self(id: 0, name: nil, email: email) }

  /// Stands for a user who has deleted their account. No user has number 0.
  static let deletedAccount = Self(id: 0, name: nil, email: "")
}
