import Foundation
import Wire

/// A group as its members' apps read it.
struct GroupBody: Encodable {
  struct MemberBody: Encodable {
    let id: UserID
    let first_name: String
    let role: GroupRole
  }

  struct PhotoBody: Codable, Hashable {
    let created_at: Date
    /// The same, by the name that an older version of the app reads.
    let timestamp: Date
    let sender_id: UserID
    let sender_name: String
  }

  let id: GroupID
  let name: String
  @OrNull var description: String?
  let time_zone: String
  let invite_code: String
  let created_at: Date
  let role: GroupRole
  let member_count: Int
  let members: [MemberBody]
  let has_sent_today: Bool
  @OrNull var last_photo: PhotoBody?

  init(_ sight: GroupSight, names: [UserID: String]) {
    let group = sight.group
    id = group.id
    name = group.name
    _description = OrNull(wrappedValue: group.description)
    time_zone = group.timeZone.name
    invite_code = group.inviteCode
    created_at = group.createdAt
    role = sight.role
    member_count = group.memberCount
    members = sight.members.map { MemberBody(id: $0.user, first_name: names[$0.user] ?? "", role: $0.role) }
    has_sent_today = sight.hasSentToday
    let photo = sight.lastPhoto.map {
      PhotoBody(
        created_at: $0.createdAt, timestamp: $0.createdAt, sender_id: $0.sender, sender_name: names[$0.sender] ?? "")
    }
    _last_photo = OrNull(wrappedValue: photo)
  }
}

struct NewGroupBody: Decodable {
  let name: String
  let description: String?
  let time_zone: String?
  let member_phone_numbers: [String]?

  /// - Throws: the validation failure that names the fields at fault.
  func group(of owner: UserID, at now: Date) throws -> NewGroup {
    let (name, description, timeZone) = try FieldErrors.collected(
      { try GroupWords.name(self.name) }, { try GroupWords.description(self.description ?? "") },
      { try GroupWords.timeZone(time_zone ?? "UTC") })
    return NewGroup(
      id: .new(at: now), owner: owner, name: name, description: description, timeZone: timeZone, at: now)
  }
}

struct CreatedGroupBody: Encodable {
  let id: GroupID
  let name: String
}

struct GroupChangeBody: Decodable {
  let name: String?
  let description: String?
  let time_zone: String?
}

struct DailyStatusBody: Encodable {
  let has_sent_today: Bool
}

/// Whether the photo of the day is there, and if not, what to do.
struct MarkedBody: Encodable {
  let success: Bool
  let code: String?
  let message: String?

  init(hasSentToday: Bool) {
    success = hasSentToday
    code = hasSentToday ? nil : "no_photo_today"
    message = hasSentToday ? nil : "Send a photo to this group first: the photo is the mark."
  }
}
