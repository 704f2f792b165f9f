import Database
import Foundation
import Messages
import Wire

/// What a signed-in user wants changed in one call: looked at as a whole before anything is done, and done as a whole.
struct UserChange: Sendable {
  let profile: ProfileChanges
  let password: String?
  let email: EmailAddress?
  let phone: PhoneNumber?

  /// - Throws: the validation failure of what is wrong, but for the password, which is looked at when it is hashed.
  init(_ body: SupabaseBody) throws(Failure) {
    profile = try ProfileChanges(displayName: try body.name(), metadata: body.data)
    password = body.password
    if let typed = body.email { email = try .required(typed, field: "email") } else { email = nil }
    if let typed = body.phone {
      phone = try .required(typed.hasPrefix("+") ? typed : "+" + typed, field: "phone")
    } else {
      phone = nil
    }
  }
}

/// Carries out what users want changed of themselves.
struct UserChanges: Sendable {
  let passwords: PasswordDoor
  let sender: CodeSender

  typealias Done = (profile: Profile, ended: [EndedSession])

  /// Password and profile at once; an address or a number when the code that goes there comes back.
  ///
  /// - Throws: 401 when the account is not active; 429 when no code may be sent, and then nothing has changed.
  func make(
    _ change: UserChange, of user: UserID, keeping session: SessionID?, from place: String, at now: Date
  ) async throws -> Done {
    var chosen: PasswordDoor.Chosen?
    if let password = change.password { chosen = try await passwords.chosen(password, by: user) }
    let done = try await passwords.database.write { [chosen, sender] db -> Done in
      let ended = try chosen.map { try $0.set(of: user, keeping: session, at: now, on: db) } ?? []
      guard let profile = try ProfileStore.change(user, change.profile, on: db) else { throw Failure.sessionEnded }
      if let email = change.email, email.canonical != profile.email?.subject {
        try sender.mail(
          email, for: .addEmail, content: .init(subject: email.canonical), account: user, from: place, at: now, on: db)
      }
      if let phone = change.phone {
        try sender.text(
          phone, for: .addPhone, content: .init(subject: phone.text), account: user, from: place, at: now, on: db)
      }
      return (profile, ended)
    }
    sender.outbox.ring()
    return done
  }
}
