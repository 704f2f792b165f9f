import Foundation
import Messages
import Wire

/// A request for which of a phone's contacts use the app.
struct CheckUsersBody: Decodable {
  let phone_numbers: [String]

  static let numbersMax = 2000
}

/// The response to ``CheckUsersBody``. Two versions of the app read the same array under two keys.
struct CheckedUsersBody: Encodable {
  let existing: [ExistingUserBody]
  let existing_users: [ExistingUserBody]
  let needs_invite: [String]

  init(existing: [ExistingUserBody], needsInvite: [String]) {
    self.existing = existing
    existing_users = existing
    needs_invite = needsInvite
  }
}

struct ExistingUserBody: Encodable {
  let phone_number: String
  let user_id: UserID
  let first_name: String
}

/// Requests texts to phone numbers, and the addition of existing users to the group.
struct SendInvitesBody: Decodable {
  struct ExistingUser: Decodable {
    let user_id: String
    let phone_number: String?
  }

  let group_id: String
  let phone_numbers: [String]
  let existing_users: [ExistingUser]?

  static let numbersMax = 500

  /// - Throws: the validation failure that names the number at fault.
  func recipients() throws(Failure) -> [Recipient] {
    try E164.require(phone_numbers, field: "phone_numbers", countMax: Self.numbersMax)
    var (seen, recipients): (Set<String>, [Recipient]) = ([], [])
    for (index, input) in phone_numbers.enumerated() {
      let number = try PhoneNumber.required(input, field: "phone_numbers.\(index)")
      if seen.insert(number.text).inserted { recipients.append(Recipient(input: input, number: number)) }
    }
    return recipients
  }

  /// A phone number, and the text that the app wrote it as.
  struct Recipient: Sendable, Hashable {
    let input: String
    let number: PhoneNumber
  }
}

struct SentInvitesBody: Encodable {
  struct Sent: Encodable {
    let phone_number: String
    let invite_code: String
  }

  let sent_invites: [Sent]
  let added_members: Int
}

struct PendingInvitesBody: Encodable {
  struct Profile: Encodable {
    let first_name: String
  }

  struct Row: Encodable {
    let id: InviteID
    let group_id: GroupID
    /// The whole number for the sender of the invite; for others only its country code and its last digits.
    let phone_number: String
    /// Always null: the code is not stored once the text was sent.
    @NullCodable var code: String?
    let invited_by: UserID
    let created_at: Date
    let expires_at: Date
    @NullCodable var used_at: Date?
    let profiles: Profile
  }

  let invites: [Row]
}
