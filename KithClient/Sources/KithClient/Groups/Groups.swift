import Foundation

/// Groups, their members, blocks, and the devices that get pushes.
public struct Groups: Sendable {
  let api: API

  /// Those that the user is in, at most five.
  public func all() async throws -> [SharedGroup] { try await api.value(.get("/api/groups")) }

  /// - Throws: ``KithFailure``, such as `group_not_found`.
  public func group(_ id: SharedGroup.ID) async throws -> SharedGroup {
    try await api.value(.get("/api/groups/\(id)"))
  }

  /// Makes a group. Numbers without an account are invited by text.
  ///
  /// - Parameter timeZone: in which the group's day begins.
  /// - Returns: the id.
  public func create(
    name: String, inviting phoneNumbers: [String] = [], timeZone: TimeZone = .current
  ) async throws -> SharedGroup.ID {
    struct Body: Encodable {
      let name: String
      let memberPhoneNumbers: [String]
      let timeZone: String
    }
    struct Answer: Decodable { let id: String }
    let body = Body(name: name, memberPhoneNumbers: phoneNumbers, timeZone: timeZone.ianaName)
    return try await api.value(try .post("/api/groups", body), as: Answer.self).id
  }

  /// Any member may. Safe to repeat.
  public func rename(_ id: SharedGroup.ID, to name: String) async throws {
    _ = try await api.send(try .put("/api/groups/\(id)", ["name": name]))
  }

  /// Leaves the group. The last one out closes it.
  public func leave(_ id: SharedGroup.ID) async throws { _ = try await api.send(.delete("/api/groups/\(id)")) }

  /// Only the owner may. Safe to repeat.
  ///
  /// - Throws: ``KithFailure``, such as `owner_only`.
  public func remove(_ member: SharedGroup.Member.ID, from id: SharedGroup.ID) async throws {
    _ = try await api.send(.delete("/api/groups/\(id)/members/\(member)"))
  }

  /// Makes another member the owner. Safe to repeat.
  ///
  /// - Throws: ``KithFailure``, such as `not_the_owner` or `member_not_found`.
  public func transfer(_ id: SharedGroup.ID, to member: SharedGroup.Member.ID) async throws {
    _ = try await api.send(try .put("/api/groups/\(id)/owner", ["user_id": member]))
  }

  /// Ends the group for all. Only the owner may. Safe to repeat.
  public func close(_ id: SharedGroup.ID) async throws { _ = try await api.send(try .post("/api/groups/\(id)/close")) }

  /// Whether the user has sent the photo of the group's present day.
  public func hasSentToday(_ id: SharedGroup.ID) async throws -> Bool {
    struct Answer: Decodable { let hasSentToday: Bool }
    return try await api.value(.get("/api/groups/\(id)/daily-status"), as: Answer.self).hasSentToday
  }

  /// Blocks a user in both directions.
  public func block(_ user: String) async throws { _ = try await api.send(try .post("/users/\(user)/block")) }

  /// Safe to repeat.
  public func unblock(_ user: String) async throws { _ = try await api.send(.delete("/users/\(user)/block")) }

  /// - Parameter token: as `didRegisterForRemoteNotificationsWithDeviceToken` gives it.
  public func registerDevice(token: Data) async throws {
    _ = try await api.send(try .post("/api/devices/register", ["device_token": token.hex, "platform": "ios"]))
  }

  /// To be called before signing out. Safe to repeat.
  public func unregisterDevice(token: Data) async throws {
    _ = try await api.send(.delete("/api/devices/unregister", ["device_token": token.hex]))
  }

  /// The user's devices that get pushes.
  public func devices() async throws -> [RegisteredDevice] {
    struct Answer: Decodable { let devices: [RegisteredDevice] }
    return try await api.value(.get("/api/devices"), as: Answer.self).devices
  }
}

extension Data {
  fileprivate var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
