import Foundation
import Wire

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

/// The request to change a group; absent fields stay as they are.
struct GroupChangeBody: Decodable {
  let name: String?
  let description: String?
  let time_zone: String?
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
