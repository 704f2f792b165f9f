import Foundation

/// Invitations to groups by code. Those to collections and lists are in extensions.
public struct Invites: Sendable {
  /// How many numbers one call may have.
  static let numbersMax = 2000
  let api: API

  /// Which of the numbers have an account. Apps use ``ContactService``, which asks in batches.
  ///
  /// - Parameter phoneNumbers: in E.164 form, at most 2,000.
  public func check(_ phoneNumbers: [String]) async throws -> ContactCheck {
    let call = try Call.post("/api/invites/check-users", ["phone_numbers": phoneNumbers])
    return try await api.value(call.with { $0.timeoutSeconds = 60 })
  }

  /// Texts a code to those who have no account, and adds those who have one.
  public func send(
    to group: SharedGroup.ID, phoneNumbers: [String], adding users: [ContactCheck.User] = []
  ) async throws -> SentInvites {
    struct User: Encodable {
      let userID: String
      let phoneNumber: String

      private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case phoneNumber = "phone_number"
      }
    }
    struct Body: Encodable {
      let groupID: String
      let phoneNumbers: [String]
      let existingUsers: [User]

      private enum CodingKeys: String, CodingKey {
        case groupID = "group_id"
        case phoneNumbers = "phone_numbers"
        case existingUsers = "existing_users"
      }
    }
    let users = users.map { User(userID: $0.userID, phoneNumber: $0.phoneNumber) }
    return try await api.value(
      try .post("/api/invites/send", Body(groupID: group, phoneNumbers: phoneNumbers, existingUsers: users)))
  }

  /// Joins the group that a code is for.
  ///
  /// - Parameter idempotencyKey: give your own, and keep it, to repeat the call after a restart of the app.
  /// - Throws: ``KithFailure``, such as `invite_not_found`, also for a code that has expired or was used.
  public func redeem(
    _ code: String, idempotencyKey: String = UUID().uuidString.lowercased()
  ) async throws -> JoinedGroup {
    let call = try Call.post("/api/invites/redeem", ["invite_code": code])
    return try await api.value(
      call.with {
        $0.idempotencyKey = idempotencyKey
        $0.alsoStale = [.socialGroups, .hunts]
      })
  }

  /// Text invitations to a group that nobody has used yet.
  ///
  /// - Throws: ``KithFailure``, such as `not_a_member`.
  public func pending(in group: SharedGroup.ID) async throws -> [PendingInvite] {
    try await api.value(.get("/api/invites/pending/\(group)"), as: InvitesAnswer<PendingInvite>.self).invites
  }

  /// Makes a link with which several can join a group.
  public func createLink(
    to group: SharedGroup.ID, maxUses: Int? = nil, expiresAt: Date? = nil
  ) async throws -> CodeLink<String> {
    struct Body: Encodable {
      let maxUses: Int?
      let expiresAt: Date?

      private enum CodingKeys: String, CodingKey {
        case maxUses = "max_uses"
        case expiresAt = "expires_at"
      }
    }
    return try await api.value(
      try .post("/api/groups/\(group)/invites", Body(maxUses: maxUses, expiresAt: expiresAt)))
  }

  /// The newest first, for the members of the group.
  public func links(to group: SharedGroup.ID) async throws -> [CodeLink<String>] {
    try await api.value(.get("/api/groups/\(group)/invites"), as: InvitesAnswer<CodeLink<String>>.self).invites
  }

  /// Nobody can use the link any more. Safe to repeat.
  public func deleteLink(_ id: String, to group: SharedGroup.ID) async throws {
    _ = try await api.send(.delete("/api/groups/\(group)/invites/\(id)"))
  }

  /// The QR code of a link with a code, to be scanned with another phone's camera. Nobody needs to be signed in.
  ///
  /// - Returns: a PNG.
  /// - Throws: ``KithFailure``, such as `not_found`.
  public func qrCode(of code: String) async throws -> Data {
    try await api.send(Call.get("/i/\(code)/qr.png").anonymous.with { $0.headers["Accept"] = "image/png" }).body
  }
}
