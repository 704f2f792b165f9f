import Foundation
import Hummingbird
import Messages
import Web
import Wire

/// What Supabase's libraries call when the code for a new address or number has come: `verify`, with the user's bearer.
extension SupabaseRoutes {
  /// Adds it to the account of whoever is signed in, and opens a session, which the libraries take in place of theirs.
  /// Without the bearer the code is worth nothing: it went to an address that may have been mistyped.
  func added(_ kind: Challenge.Kind, _ body: SupabaseBody, _ request: Request, by user: UserID) async throws -> Response
  {
    guard let token = body.token else { throw Failure.invalid(.init("token", "is required")) }
    let subject = try body.subject(of: kind)
    guard let code = OneTimeCode(typed: token) else { throw Failure.otpExpired }
    let (now, visit, challenges) = (now(), request.visit(.supabase), sender.challenges)
    let isAdded = try await ways.add(to: user, at: now) { db in
      try challenges.answer([kind], subject, account: user, code: code, at: now, on: db)
    }
    guard isAdded else { throw Failure.otpExpired }
    let entered = try await ways.database.write { [mint] db in
      guard try AccountStore.hold(user, on: db) else { throw Failure.sessionEnded }
      return try PasswordDoor.entered(user, mint, visit, at: now, on: db)
    }
    return .json(SupabaseSessionBody(entered.pair, entered.profile, at: now))
  }
}

extension Challenge.Kind {
  /// nil for the types that sign in.
  init?(adding type: String?) {
    switch type {
    case "email_change": self = .addEmail
    case "phone_change": self = .addPhone
    default: return nil
    }
  }
}

extension SupabaseBody {
  fileprivate func subject(of kind: Challenge.Kind) throws(Failure) -> String {
    guard kind == .addPhone else { return try EmailAddress.required(email ?? "", field: "email").canonical }
    return try PhoneNumber.required(phone.map { $0.hasPrefix("+") ? $0 : "+" + $0 } ?? "", field: "phone").text
  }
}
