import Foundation

/// When somebody will arrive, for those whom they tell.
extension Adventures {
  /// One's own, and those that others share with the user. Kept for a minute.
  public func arrivals() async throws -> [ArrivalShare] {
    try await rows("eta_shares", ["is_active": "eq.true"], .arrivals)
  }

  /// - Parameters:
  ///   - route: origin, destination, distance and so on, as the app's other users read it.
  ///   - recipients: 1 to 50 users.
  ///   - expiresAt: within a week.
  public func shareArrival(
    route: JSONValue, with recipients: [String], until expiresAt: Date
  ) async throws -> ArrivalShare {
    let body: JSONValue = [
      "route_data": route, "recipients": .array(recipients.map(JSONValue.string)),
      "expires_at": .string(expiresAt.rfc3339),
    ]
    return try await row(try .post("/rest/v1/eta_shares", body), .arrivals)
  }

  /// What is nil stays as it is. Safe to repeat.
  ///
  /// - Throws: ``KithFailure/invalid(_:)`` for one that is not the user's.
  public func changeArrival(
    _ id: ArrivalShare.ID, route: JSONValue? = nil, recipients: [String]? = nil, until expiresAt: Date? = nil
  ) async throws -> ArrivalShare {
    var body: [String: JSONValue] = [:]
    body["route_data"] = route
    body["recipients"] = recipients.map { .array($0.map(JSONValue.string)) }
    body["expires_at"] = expiresAt.map { .string($0.rfc3339) }
    return try await row(try Call.patch("/rest/v1/eta_shares", body).filtered("id", id), .arrivals)
  }

  /// Safe to repeat.
  public func endArrival(_ id: ArrivalShare.ID) async throws { try await delete("eta_shares", id, .arrivals) }
}
