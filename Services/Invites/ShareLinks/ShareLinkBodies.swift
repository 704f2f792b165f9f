import Foundation
import Wire

/// `{data: …}`, as the apps with collections read every answer.
struct DataBody<Content: Encodable>: Encodable {
  let data: Content
  var count: Int?
}

/// What an app asks for; nothing in it has to be there, but the body itself.
struct NewShareLinkBody: Decodable {
  let role: String?
  let inviteeUserId: String?
  let inviteeEmail: String?

  /// The only role that a link gives: whoever owns the collection raises it later.
  ///
  /// - Throws: the validation failure that names the field.
  func givenRole() throws(Failure) -> CollectionRole {
    switch role.map(CollectionRole.init) {
    case nil, .viewOnly?, .editor?: return .viewOnly
    default: throw .invalid(.init("role", "must be VIEW_ONLY or EDITOR"))
    }
  }

  func invitee() throws(Failure) -> UserID? {
    guard let inviteeUserId else { return nil }
    guard let user = UserID(inviteeUserId, prefix: .user) else {
      throw .invalid(.init("inviteeUserId", "must be a user's id"))
    }
    return user
  }

  func email() throws(Failure) -> String? {
    guard let email = inviteeEmail?.trimmingCharacters(in: .whitespacesAndNewlines) else { return nil }
    guard email.utf8.count <= 254, email.wholeMatch(of: /[^@\s]+@[^@\s]+/) != nil else {
      throw .invalid(.init("inviteeEmail", "must be an e-mail address"))
    }
    return email
  }
}

/// Somebody in an invite, as far as its reader may know.
struct ShareLinkPersonBody: Encodable {
  let id: String
  @OrNull var email: String?
  @OrNull var name: String?

  init(_ id: UserID, _ person: Person?) {
    self.id = id.prefixed(.user)
    _email = OrNull(wrappedValue: person?.email)
    _name = OrNull(wrappedValue: person?.name)
  }

  /// For whom an invite is. Whoever makes one names anybody whose id they know, and whoever has its token reads it: more
  /// than a first name would give people away to strangers.
  init(invitee id: UserID, _ person: Person?) {
    self.id = id.prefixed(.user)
    _email = OrNull(wrappedValue: nil)
    _name = OrNull(wrappedValue: person.map(\.shortName).flatMap { $0.isEmpty ? nil : $0 })
  }
}

struct SharedCollectionBody: Encodable {
  let id: String
  let name: String

  init(_ id: CollectionID, _ name: String) {
    self.id = id.prefixed(.collection)
    self.name = name
  }
}

/// A link as its maker gets it: the one time that its token is told.
struct NewShareLinkAnswer: Encodable {
  let id: String
  let token: String
  let role: String
  let status: String
  let expiresAt: Date
  let deepLink: String
  let appStoreFallbackUrl: String
  let collection: SharedCollectionBody
  let inviter: ShareLinkPersonBody
}

/// A link as everybody sees it who has it.
struct ShareLinkBody: Encodable {
  let id: String
  let collection: SharedCollectionBody
  @OrNullBody var inviter: ShareLinkPersonBody?
  @OrNullBody var invitee: ShareLinkPersonBody?
  let role: String
  let status: String
  let expiresAt: Date
  /// Only for whoever made it.
  let createdAt: Date?

  init(
    _ invite: Invite, to collection: SharedCollectionBody, _ people: [UserID: Person], at now: Date, isOwn: Bool
  ) {
    id = invite.id.prefixed(.invite)
    self.collection = collection
    _inviter = OrNullBody(wrappedValue: invite.inviter.map { ShareLinkPersonBody($0, people[$0]) })
    _invitee = OrNullBody(wrappedValue: invite.invitee.map { ShareLinkPersonBody(invitee: $0, people[$0]) })
    role = invite.role ?? ""
    status = invite.status(at: now)
    expiresAt = invite.expiresAt
    createdAt = isOwn ? invite.createdAt : nil
  }
}

struct AcceptedBody: Encodable {
  let collectionId: String
  let role: String
  let status = "ACCEPTED"
}

struct RejectedBody: Encodable {
  let collectionId: String
  let status = "REJECTED"
}

/// A member that is written as null when there is nothing.
@propertyWrapper
struct OrNullBody<Value: Encodable>: Encodable {
  var wrappedValue: Value?

  init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
  }
}

extension Invite {
  func status(at now: Date) -> String { state(at: now).rawValue.uppercased() }
}
