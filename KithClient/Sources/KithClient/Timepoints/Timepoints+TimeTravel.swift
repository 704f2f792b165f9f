import Foundation

/// Going forward and back in time.
extension Timepoints {
  /// Where a jump leads.
  public enum Direction: String, Sendable { case next, prior }
  /// How far a unit of a jump leads.
  public enum Unit: String, Sendable, Encodable { case second, minute, hour, day, week, month, year }

  /// The scenes before and after one, as they were made from each other. Of several jumps from a scene, the latest is
  /// followed.
  ///
  /// - Parameters:
  ///   - direction: nil: both.
  ///   - limit: 1 to 50, for each direction.
  public func sequence(
    around id: Timepoint.ID, _ direction: Direction? = nil, atMost limit: Int = 10
  ) async throws -> TemporalSequence {
    try await api.value(
      read("/api/v1/temporal/\(id)/sequence", ["direction": direction?.rawValue, "limit": String(limit)]))
  }

  /// Makes the scene before or after this one, as private or public as it. Repeated with the same key, it is made and
  /// paid once.
  ///
  /// - Parameters:
  ///   - units: 1 to 365.
  ///   - idempotencyKey: give your own, and keep it, to repeat the call after a restart of the app.
  /// - Throws: ``KithFailure``, such as `insufficient_credits` or `timepoint_not_completed`.
  public func jump(
    from id: Timepoint.ID, _ direction: Direction, units: Int = 1, of unit: Unit = .day,
    idempotencyKey: String = UUID().uuidString.lowercased()
  ) async throws -> TemporalJump {
    struct Body: Encodable {
      let units: Int
      let unit: Unit
    }
    let call = try Call.post("/api/v1/temporal/\(id)/\(direction.rawValue)", Body(units: units, unit: unit))
    return try await api.value(
      call.with {
        $0.idempotencyKey = idempotencyKey
        $0.timeoutSeconds = Self.workSeconds
      })
  }
}
