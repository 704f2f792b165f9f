import Foundation

/// Groups, their members, and blocks.
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

      private enum CodingKeys: String, CodingKey {
        case name
        case memberPhoneNumbers = "member_phone_numbers"
        case timeZone = "time_zone"
      }
    }
    let body = Body(name: name, memberPhoneNumbers: phoneNumbers, timeZone: timeZone.ianaName)
    return try await api.value(changing(try .post("/api/groups", body)), as: CreatedGroupAnswer.self).id
  }

  /// Any member may; the time zone is the owner's to change. What is nil stays as it is. Safe to repeat.
  ///
  /// - Parameters:
  ///   - description: an empty one is none.
  ///   - timeZone: in which the group's day begins.
  /// - Throws: ``KithFailure``, such as `owner_only`.
  public func change(
    _ id: SharedGroup.ID, name: String? = nil, description: String? = nil, timeZone: TimeZone? = nil
  ) async throws {
    var body: [String: String] = [:]
    body["name"] = name
    body["description"] = description
    body["time_zone"] = timeZone?.ianaName
    _ = try await api.send(changing(try .put("/api/groups/\(id)", body)))
  }

  /// Leaves the group. The last one out closes it.
  public func leave(_ id: SharedGroup.ID) async throws {
    _ = try await api.send(changing(.delete("/api/groups/\(id)")))
  }

  /// Only the owner may. Safe to repeat.
  ///
  /// - Throws: ``KithFailure``, such as `owner_only`.
  public func remove(_ member: SharedGroup.Member.ID, from id: SharedGroup.ID) async throws {
    _ = try await api.send(changing(.delete("/api/groups/\(id)/members/\(member)")))
  }

  /// Makes another member the owner. Safe to repeat.
  ///
  /// - Throws: ``KithFailure``, such as `not_the_owner` or `member_not_found`.
  public func transfer(_ id: SharedGroup.ID, to member: SharedGroup.Member.ID) async throws {
    _ = try await api.send(changing(try .put("/api/groups/\(id)/owner", ["user_id": member])))
  }

  /// Ends the group for all. Only the owner may. Safe to repeat.
  public func close(_ id: SharedGroup.ID) async throws {
    _ = try await api.send(changing(try .post("/api/groups/\(id)/close")))
  }

  /// Whether the user has sent the photo of the group's present day.
  public func hasSentToday(_ id: SharedGroup.ID) async throws -> Bool {
    try await api.value(.get("/api/groups/\(id)/daily-status"), as: DailyStatusAnswer.self).hasSentToday
  }

  /// Blocks a user in both directions. Safe to repeat.
  public func block(_ user: String) async throws { _ = try await api.send(changing(try .post("/users/\(user)/block"))) }

  /// Safe to repeat.
  public func unblock(_ user: String) async throws { _ = try await api.send(changing(.delete("/users/\(user)/block"))) }

  /// The groups are those of adventures as well, whose hunts belong to them, and blocks hide what users share.
  private func changing(_ call: Call) -> Call { call.with { $0.alsoStale = [.socialGroups, .hunts, .arrivals] } }
}
