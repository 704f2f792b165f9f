import Foundation

/// Making scenes.
extension Timepoints {
  /// How often a scene that is being made is looked at.
  private static let pollSeconds = 4.0
  /// A scene is made in fewer steps.
  private static let stepsMax = 32

  /// Starts making a scene.
  ///
  /// - Parameter idempotencyKey: give your own, and keep it, to repeat the call after a restart without paying twice.
  /// - Throws: ``KithFailure``, with the code `insufficient_credits` when there are too few.
  public func generate(
    _ request: TimepointRequest, idempotencyKey: String = UUID().uuidString.lowercased()
  ) async throws -> Timepoint.ID {
    let call = try Call.post("/api/v1/timepoints/generate", request).with { $0.idempotencyKey = idempotencyKey }
    return try await api.value(call, as: StartedTimepointAnswer.self).id
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
    // With the same key the same stream begins again.
    steps { _ in
      try Call.post("/api/v1/timepoints/generate/stream", request).with { $0.idempotencyKey = idempotencyKey }
    }
  }

  /// Tells how far a scene is that was begun before, for example by ``generate(_:idempotencyKey:)``. Only its owner
  /// may. Safe to repeat.
  ///
  /// - Returns: each step once, from the first on. Ends with `done` or `error`, and throws ``KithFailure``.
  public func progress(of id: Timepoint.ID) -> AsyncThrowingStream<TimepointProgress, any Error> {
    steps { last in
      Call.get("/api/v1/timepoints/\(id)/events").with { $0.headers["Last-Event-ID"] = last > 0 ? String(last) : nil }
    }
  }

  private func steps(
    _ call: @escaping @Sendable (_ lastNumber: Int) throws -> Call
  ) -> AsyncThrowingStream<TimepointProgress, any Error> {
    BoundedBuffer.stream(countMax: Self.stepsMax) { [api] steps in
      try await RepeatedStream(api: api).read(call) { event in
        let step = try WireCoding.decode(TimepointProgress.self, from: Data(event.data.utf8))
        try await steps.send(step)
        return step.isLast
      }
    }
  }
}
