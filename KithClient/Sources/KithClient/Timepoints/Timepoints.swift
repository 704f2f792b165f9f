import Foundation

/// Making scenes for credits, seeing them, and talking with the people in them.
public struct Timepoints: Sendable {
  public enum Direction: String, Sendable { case next, prior }
  public enum Unit: String, Sendable, Encodable { case second, minute, hour, day, week, month, year }

  /// Making a scene takes up to two minutes.
  private static let workSeconds = 170.0
  /// How often a scene that is being made is looked at.
  private static let pollSeconds = 4.0
  let api: API

  /// Starts making a scene.
  ///
  /// - Parameter idempotencyKey: give your own, and keep it, to repeat the call after a restart without paying twice.
  /// - Throws: ``KithFailure``, with the code `insufficient_credits` when there are too few.
  public func generate(
    _ request: TimepointRequest, idempotencyKey: String = UUID().uuidString.lowercased()
  ) async throws -> Timepoint.ID {
    struct Started: Decodable { let id: String }
    let call = try Call.post("/api/v1/timepoints/generate", request).with { $0.idempotencyKey = idempotencyKey }
    return try await api.value(call, as: Started.self).id
  }

  /// Looks at a scene until it is completed or failed. Ends when the caller is cancelled; the scene is made all the
  /// same.
  public func finished(_ id: Timepoint.ID) async throws -> Timepoint {
    while true {
      let timepoint = try await timepoint(id, full: true)
      if timepoint.isFinished { return timepoint }
      try await api.exchanger.policy.sleep(.seconds(Self.pollSeconds))
    }
  }

  /// Makes a scene, and waits for it.
  public func generateAndWait(_ request: TimepointRequest) async throws -> Timepoint {
    let call = try Call.post("/api/v1/timepoints/generate/sync", request)
    return try await api.value(call.with { $0.timeoutSeconds = Self.workSeconds })
  }

  /// Makes a scene, and tells how far it is. A stream that breaks is not begun again, as that would cost again: look
  /// with ``mine(page:status:)`` what became of it.
  public func generating(_ request: TimepointRequest) -> AsyncThrowingStream<TimepointProgress, any Error> {
    AsyncThrowingStream { continuation in
      let running = Task {
        do {
          let call = try Call.post("/api/v1/timepoints/generate/stream", request).with {
            $0.headers["Accept"] = "text/event-stream"
            $0.timeoutSeconds = Self.workSeconds
          }
          for try await event in try await api.stream(call).events where !event.data.isEmpty {
            continuation.yield(try WireCoding.decode(TimepointProgress.self, from: Data(event.data.utf8)))
          }
          continuation.finish()
        } catch let failure as NoAnswer {
          continuation.finish(throwing: KithFailure.unreachable(failure.reason))
        } catch { continuation.finish(throwing: error) }
      }
      continuation.onTermination = { _ in running.cancel() }
    }
  }

  /// - Parameter full: with the people, the scene and the dialog.
  public func timepoint(_ id: Timepoint.ID, full: Bool = false) async throws -> Timepoint {
    try await api.value(
      Call.get("/api/v1/timepoints/\(id)", ["full": String(full)]).with { $0.bearer = .ifSignedIn })
  }

  /// Public ones, and one's own.
  public func all(page: Int = 1, pageSize: Int = 20) async throws -> TimepointPage<Timepoint> {
    let query = ["page": String(page), "page_size": String(pageSize)]
    return try await api.value(Call.get("/api/v1/timepoints", query).with { $0.bearer = .ifSignedIn })
  }

  /// One's own.
  public func mine(page: Int = 1, status: String? = nil) async throws -> TimepointPage<TimepointSummary> {
    try await api.value(.get("/api/v1/users/me/timepoints", ["page": String(page), "status": status]))
  }

  public func setVisibility(of id: Timepoint.ID, to visibility: Timepoint.Visibility) async throws -> Timepoint {
    try await api.value(try .patch("/api/v1/timepoints/\(id)/visibility", ["visibility": visibility]))
  }

  public func delete(_ id: Timepoint.ID) async throws { _ = try await api.send(.delete("/api/v1/timepoints/\(id)")) }

  /// Asks a character of a scene.
  ///
  /// - Parameter session: goes on with an earlier conversation.
  public func chat(
    with character: String, in id: Timepoint.ID, message: String, session: String? = nil
  ) async throws -> CharacterReply {
    var body = ["character": character, "message": message]
    body["session_id"] = session
    let call = try Call.post("/api/v1/interactions/\(id)/chat", body)
    return try await api.value(call.with { $0.timeoutSeconds = Self.workSeconds })
  }

  /// Makes the scene before or after this one.
  public func jump(
    from id: Timepoint.ID, _ direction: Direction, units: Int = 1, of unit: Unit = .day
  ) async throws -> TemporalJump {
    struct Body: Encodable {
      let units: Int
      let unit: Unit
    }
    let call = try Call.post("/api/v1/temporal/\(id)/\(direction.rawValue)", Body(units: units, unit: unit))
    return try await api.value(call.with { $0.timeoutSeconds = Self.workSeconds })
  }
}
