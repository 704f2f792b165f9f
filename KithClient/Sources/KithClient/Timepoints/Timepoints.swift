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

  /// Makes a scene, and waits for it, up to two minutes.
  ///
  /// - Parameter idempotencyKey: give your own, and keep it, to repeat the call after a restart without paying twice.
  /// - Throws: ``KithFailure``, such as `insufficient_credits`.
  public func generateAndWait(
    _ request: TimepointRequest, idempotencyKey: String = UUID().uuidString.lowercased()
  ) async throws -> Timepoint {
    let call = try Call.post("/api/v1/timepoints/generate/sync", request)
    return try await api.value(
      call.with {
        $0.idempotencyKey = idempotencyKey
        $0.timeoutSeconds = Self.workSeconds
      })
  }

  /// Makes a scene, and tells how far it is. A stream that breaks is read on, and the scene is made and paid once.
  ///
  /// - Parameter idempotencyKey: give your own, and keep it, to read on after a restart of the app.
  /// - Returns: each step once. Ends with `done` or `error`, and throws ``KithFailure``.
  public func generating(
    _ request: TimepointRequest, idempotencyKey: String = UUID().uuidString.lowercased()
  ) -> AsyncThrowingStream<TimepointProgress, any Error> {
    AsyncThrowingStream { continuation in
      let running = Task {
        do {
          let call = try Call.post("/api/v1/timepoints/generate/stream", request).with {
            $0.headers["Accept"] = "text/event-stream"
            $0.idempotencyKey = idempotencyKey
            $0.timeoutSeconds = Self.workSeconds
          }
          try await follow(call) { continuation.yield($0) }
          continuation.finish()
        } catch { continuation.finish(throwing: error) }
      }
      continuation.onTermination = { _ in running.cancel() }
    }
  }

  /// With the same key, the request begins the same stream again: what was told already is left out.
  private func follow(_ call: Call, _ tell: (TimepointProgress) -> Void) async throws {
    var (last, failures) = (0, 0)
    while true {
      var reason = "the stream has ended early"
      do {
        for try await event in try await api.stream(call).events.all where !event.data.isEmpty {
          let number = Int(event.id) ?? last + 1
          guard number > last else { continue }
          (last, failures) = (number, 0)
          let progress = try WireCoding.decode(TimepointProgress.self, from: Data(event.data.utf8))
          tell(progress)
          if progress.isLast { return }
        }
      } catch let failure as NoAnswer { reason = failure.reason } catch KithFailure.unreachable(let text) {
        reason = text
      }
      try Task.checkCancellation()
      failures += 1
      guard failures < api.exchanger.policy.attemptsMax else { throw KithFailure.unreachable(reason) }
      try await api.exchanger.policy.sleep(api.exchanger.policy.backoff(failures))
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

  /// Only its owner may. Safe to repeat.
  public func setVisibility(of id: Timepoint.ID, to visibility: Timepoint.Visibility) async throws -> Timepoint {
    try await api.value(try .patch("/api/v1/timepoints/\(id)/visibility", ["visibility": visibility]))
  }

  /// Only its owner may. One that is still being made is called off, and its credits come back. Safe to repeat.
  public func delete(_ id: Timepoint.ID) async throws { _ = try await api.send(.delete("/api/v1/timepoints/\(id)")) }

  /// Asks a character of a scene. Repeated with the same key when there is no answer, it is paid once.
  ///
  /// - Parameter session: goes on with an earlier conversation.
  /// - Throws: ``KithFailure``, such as `character_not_found`, which names those there are, or `insufficient_credits`.
  public func chat(
    with character: String, in id: Timepoint.ID, message: String, session: String? = nil
  ) async throws -> CharacterReply {
    var body = ["character": character, "message": message]
    body["session_id"] = session
    return try await interaction("chat", in: id, body)
  }

  /// Lets characters go on talking. Repeated with the same key when there is no answer, it is paid once.
  ///
  /// - Parameters:
  ///   - characters: empty: all.
  ///   - lineCount: 1 to 10.
  /// - Throws: as ``chat(with:in:message:session:)``.
  public func dialog(
    in id: Timepoint.ID, characters: [String] = [], lineCount: Int = 5, about topic: String? = nil
  ) async throws -> [DialogLine] {
    struct Body: Encodable {
      let characters: CharacterNames
      let numLines: Int
      let prompt: String?
    }
    struct Answer: Decodable { let dialog: [DialogLine] }
    let body = Body(characters: CharacterNames(names: characters), numLines: lineCount, prompt: topic)
    let answer: Answer = try await interaction("dialog", in: id, body)
    return answer.dialog
  }

  /// Asks several characters the same questions. Repeated with the same key when there is no answer, it is paid once.
  ///
  /// - Parameters:
  ///   - questions: 1 to 10.
  ///   - characters: empty: all.
  /// - Throws: as ``chat(with:in:message:session:)``.
  public func survey(
    _ questions: [String], in id: Timepoint.ID, characters: [String] = []
  ) async throws -> CharacterSurvey {
    struct Body: Encodable {
      let characters: CharacterNames
      let questions: [String]
    }
    return try await interaction(
      "survey", in: id, Body(characters: CharacterNames(names: characters), questions: questions))
  }

  private func interaction<Answer: Decodable & Sendable>(
    _ kind: String, in id: Timepoint.ID, _ body: some Encodable & Sendable
  ) async throws -> Answer {
    let call = try Call.post("/api/v1/interactions/\(id)/\(kind)", body)
    return try await api.value(call.with { $0.timeoutSeconds = Self.workSeconds })
  }

  /// The scenes before and after one, as they were made from each other.
  public func sequence(around id: Timepoint.ID, atMost limit: Int = 10) async throws -> TemporalSequence {
    try await api.value(
      Call.get("/api/v1/temporal/\(id)/sequence", ["limit": String(limit)]).with { $0.bearer = .ifSignedIn })
  }

  /// Makes the scene before or after this one. Repeated with the same key, it is made and paid once.
  ///
  /// - Parameter units: 1 to 365.
  /// - Throws: ``KithFailure``, such as `insufficient_credits`.
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
