import Foundation
import Messages
import Wire

/// Asks which of a phone's contacts have the app.
struct CheckUsersBody: Decodable {
  let phone_numbers: [String]

  static let numbersMax = 2000

  /// - Throws: the validation failure that names the number at fault.
  static func require(_ numbers: [String], countMax: Int = numbersMax) throws(Failure) {
    guard numbers.count <= countMax else {
      throw .invalid(.init("phone_numbers", "must have at most \(countMax) numbers"))
    }
    for (index, number) in numbers.enumerated() where number.wholeMatch(of: /\+[1-9][0-9]{1,14}/) == nil {
      throw .invalid(.init("phone_numbers.\(index)", "must be a phone number like +4712345678"))
    }
  }
}

/// Two names for one list, as two of the app's versions read it.
struct CheckedUsersBody: Encodable {
  let existing: [KnownNumberBody]
  let existing_users: [KnownNumberBody]
  let needs_invite: [String]

  init(existing: [KnownNumberBody], needsInvite: [String]) {
    self.existing = existing
    existing_users = existing
    needs_invite = needsInvite
  }
}

struct KnownNumberBody: Encodable {
  let phone_number: String
  let user_id: UserID
  let first_name: String
}

/// Asks for texts to people without the app, and for people with it to be added at once.
struct SendBody: Decodable {
  struct ExistingUser: Decodable {
    let user_id: String
    let phone_number: String?
  }

  let group_id: String
  let phone_numbers: [String]
  let existing_users: [ExistingUser]?

  static let numbersMax = 500

  /// - Throws: the validation failure that names the number at fault.
  func numbers() throws(Failure) -> [Numbered] {
    try CheckUsersBody.require(phone_numbers, countMax: Self.numbersMax)
    var (seen, numbers): (Set<String>, [Numbered]) = ([], [])
    for (index, asked) in phone_numbers.enumerated() {
      let number = try PhoneNumber.required(asked, field: "phone_numbers.\(index)")
      if seen.insert(number.text).inserted { numbers.append(Numbered(asked: asked, number: number)) }
    }
    return numbers
  }

  /// A number, and how the app wrote it.
  struct Numbered: Sendable, Hashable {
    let asked: String
    let number: PhoneNumber
  }
}

struct SentBody: Encodable {
  struct Sent: Encodable {
    let phone_number: String
    let invite_code: String
  }

  let sent_invites: [Sent]
  let added_members: Int
}

struct PendingBody: Encodable {
  struct Profile: Encodable {
    let first_name: String
  }

  struct Row: Encodable {
    let id: InviteID
    let group_id: GroupID
    /// Whole for whoever has sent it, else only as far as its country and its end.
    let phone_number: String
    /// Not kept once the text has gone out.
    @OrNull var code: String?
    let invited_by: UserID
    let created_at: Date
    let expires_at: Date
    @OrNull var used_at: Date?
    let profiles: Profile
  }

  let invites: [Row]
}
