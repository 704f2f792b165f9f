import Foundation
import Wire

/// A group in responses to its members.
struct GroupBody: Encodable {
  struct MemberBody: Encodable {
    let id: UserID
    let first_name: String
    let role: GroupRole
  }

  struct PhotoBody: Codable, Hashable {
    let created_at: Date
    /// The same value under the name that an older version of the app reads.
    let timestamp: Date
    let sender_id: UserID
    let sender_name: String
  }

  let id: GroupID
  let name: String
  @NullCodable var description: String?
  let time_zone: String
  let invite_code: String
  let created_at: Date
  let role: GroupRole
  let member_count: Int
  let members: [MemberBody]
  let has_sent_today: Bool
  @NullCodable var last_photo: PhotoBody?

  init(_ summary: GroupSummary, names: [UserID: String]) {
    let group = summary.group
    id = group.id
    name = group.name
    _description = NullCodable(wrappedValue: group.description)
    time_zone = group.timeZone.name
    invite_code = group.inviteCode
    created_at = group.createdAt
    role = summary.role
    member_count = group.memberCount
    members = summary.members.map { MemberBody(id: $0.user, first_name: names[$0.user] ?? "", role: $0.role) }
    has_sent_today = summary.hasSentToday
    let photo = summary.lastPhoto.map {
      PhotoBody(
        created_at: $0.createdAt, timestamp: $0.createdAt, sender_id: $0.sender, sender_name: names[$0.sender] ?? "")
    }
    _last_photo = NullCodable(wrappedValue: photo)
  }
}

/// The request to create a group.
struct NewGroupBody: Decodable {
  let name: String
  let description: String?
  let time_zone: String?
  let member_phone_numbers: [String]?

  /// - Throws: the validation failure that names every invalid field.
  func group(of owner: UserID, at now: Date) throws -> NewGroup {
    let (name, description, timeZone) = try FieldErrors.collected(
      { try GroupFields.name(self.name) }, { try GroupFields.description(self.description ?? "") },
      { try GroupFields.timeZone(time_zone ?? "UTC") })
    return NewGroup(
      id: .new(at: now), owner: owner, name: name, description: description, timeZone: timeZone, createdAt: now)
  }
}

/// The response to the creation of a group.
struct CreatedGroupBody: Encodable {
  let id: GroupID
  let name: String
}

/// The request to change a group; absent fields stay as they are.
struct GroupChangeBody: Decodable {
  let name: String?
  let description: String?
  let time_zone: String?
}

/// Whether the caller has sent a photo to the group on its current day.
struct DailyStatusBody: Encodable {
  let has_sent_today: Bool
}

/// The response of `mark-sent`: whether the caller has sent the photo of the day, and otherwise an error code and
/// message.
struct MarkSentBody: Encodable {
  let success: Bool
  let code: String?
  let message: String?

  init(hasSentToday: Bool) {
    success = hasSentToday
    code = hasSentToday ? nil : "no_photo_today"
    message = hasSentToday ? nil : "Send a photo to this group first: the photo is the mark."
  }
}
