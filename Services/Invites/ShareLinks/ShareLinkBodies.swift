import Foundation
import Wire

/// The envelope `{data: …}` around every response to the collections apps.
struct DataBody<Content: Encodable>: Encodable {
  let data: Content
  var count: Int?
}

/// A request for a link. Every member is optional, the body itself is not.
struct CreateShareLinkBody: Decodable {
  let role: String?
  let inviteeUserId: String?
  let inviteeEmail: String?

  /// The role that the link gives, which is always view only: the owner of the collection raises it later.
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

/// A user in an invite, with the data that its reader may see.
struct ShareLinkPersonBody: Encodable {
  let id: String
  @NullCodable var email: String?
  @NullCodable var name: String?

  init(_ id: UserID, _ person: Person?) {
    self.id = id.prefixed(.user)
    _email = NullCodable(wrappedValue: person?.email)
    _name = NullCodable(wrappedValue: person?.name)
  }

  /// The invitee, with the first name only: an inviter may address anybody whose id they may know, and everybody who
  /// has the token reads the response, so more would reveal personal data to strangers.
  init(invitee id: UserID, _ person: Person?) {
    self.id = id.prefixed(.user)
    _email = NullCodable(wrappedValue: nil)
    _name = NullCodable(wrappedValue: person.map(\.shortName).flatMap { $0.isEmpty ? nil : $0 })
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

/// The response to the inviter who created a link, the only one that contains its token.
struct CreatedShareLinkBody: Encodable {
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

/// A link in responses to everybody who has it, and in the owner's list.
struct ShareLinkBody: Encodable {
  let id: String
  let collection: SharedCollectionBody
  @NullCodable var inviter: ShareLinkPersonBody?
  @NullCodable var invitee: ShareLinkPersonBody?
  let role: String
  let status: String
  let expiresAt: Date
  /// Only in the owner's list.
  let createdAt: Date?

  init(
    _ invite: Invite, to collection: SharedCollectionBody, _ people: [UserID: Person], at now: Date, isOwn: Bool
  ) {
    id = invite.id.prefixed(.invite)
    self.collection = collection
    _inviter = NullCodable(wrappedValue: invite.inviter.map { ShareLinkPersonBody($0, people[$0]) })
    _invitee = NullCodable(wrappedValue: invite.invitee.map { ShareLinkPersonBody(invitee: $0, people[$0]) })
    role = invite.role ?? ""
    status = invite.status(at: now)
    expiresAt = invite.expiresAt
    createdAt = isOwn ? invite.createdAt : nil
  }
}

struct AcceptedShareLinkBody: Encodable {
  let collectionId: String
  let role: String
  let status = "ACCEPTED"
}

struct RejectedShareLinkBody: Encodable {
  let collectionId: String
  let status = "REJECTED"
}

extension Invite {
  func status(at now: Date) -> String { state(at: now).rawValue.uppercased() }
}
