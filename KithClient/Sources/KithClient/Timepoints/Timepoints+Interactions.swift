import Foundation

/// Talking with the people in a scene. Each call costs what ``Credits/costs()`` has as `chat`.
///
/// Repeated with the same key when there is no answer, a call is paid once. Give your own key, and keep it, to repeat a
/// call after a restart of the app. All throw ``KithFailure``, such as `insufficient_credits`, `timepoint_private`,
/// `timepoint_not_completed`, or `character_not_found`, which names those there are.
extension Timepoints {
  /// Pieces that wait for their reader.
  private static let piecesMax = 256

  /// Says something to a character.
  ///
  /// - Throws: ``KithFailure``, such as `character_not_found`, `session_not_found` for another's conversation or that
  ///   with another character, or `session_full`.
  public func chat(
    _ request: ChatRequest, in id: Timepoint.ID, idempotencyKey: String = UUID().uuidString.lowercased()
  ) async throws -> CharacterReply {
    try await interaction("chat", in: id, request, idempotencyKey)
  }

  /// Lets characters go on talking.
  ///
  /// - Throws: ``KithFailure``, such as `character_not_found`.
  public func dialog(
    _ request: DialogRequest = DialogRequest(), in id: Timepoint.ID,
    idempotencyKey: String = UUID().uuidString.lowercased()
  ) async throws -> CharacterDialog {
    try await interaction("dialog", in: id, request, idempotencyKey)
  }

  /// Asks several characters the same questions.
  ///
  /// - Throws: ``KithFailure``, such as `character_not_found`.
  public func survey(
    _ request: SurveyRequest, in id: Timepoint.ID, idempotencyKey: String = UUID().uuidString.lowercased()
  ) async throws -> CharacterSurvey {
    try await interaction("survey", in: id, request, idempotencyKey)
  }

  /// Says something to a character, whose words come as they are made.
  ///
  /// - Returns: pieces of the answer, and the whole. Throws as ``chat(_:in:idempotencyKey:)``, and with the code
  ///   of the failure when the answer fails after its first words: its credits come back.
  public func chatStream(
    _ request: ChatRequest, in id: Timepoint.ID, idempotencyKey: String = UUID().uuidString.lowercased()
  ) -> AsyncThrowingStream<StreamedAnswer<String, CharacterReply>, any Error> {
    stream("chat", in: id, request, idempotencyKey)
  }

  /// Lets characters go on talking, line by line.
  ///
  /// - Returns: the lines, and all of them at the end. Throws as ``chatStream(_:in:idempotencyKey:)``.
  public func dialogStream(
    _ request: DialogRequest = DialogRequest(), in id: Timepoint.ID,
    idempotencyKey: String = UUID().uuidString.lowercased()
  ) -> AsyncThrowingStream<StreamedAnswer<DialogLine, CharacterDialog>, any Error> {
    stream("dialog", in: id, request, idempotencyKey)
  }

  /// Asks several characters the same questions, and gets each answer as it is there.
  ///
  /// - Returns: the answers in the order in which they come, and all in that of the questions, with the summary. Throws
  ///   as ``chatStream(_:in:idempotencyKey:)``.
  public func surveyStream(
    _ request: SurveyRequest, in id: Timepoint.ID, idempotencyKey: String = UUID().uuidString.lowercased()
  ) -> AsyncThrowingStream<StreamedAnswer<CharacterSurvey.Answer, CharacterSurvey>, any Error> {
    stream("survey", in: id, request, idempotencyKey)
  }

  /// One's own saved conversations in a scene, the latest first; at most 200.
  ///
  /// - Throws: ``KithFailure``, such as `timepoint_private`.
  public func conversations(in id: Timepoint.ID) async throws -> [ConversationSummary] {
    try await api.value(.get("/api/v1/interactions/sessions/\(id)"), as: ConversationsAnswer.self).sessions
  }

  /// One's own.
  ///
  /// - Throws: ``KithFailure``, such as `session_not_found`.
  public func conversation(_ id: Conversation.ID) async throws -> Conversation {
    try await api.value(.get("/api/v1/interactions/session/\(id)"))
  }

  /// One's own. Safe to repeat.
  ///
  /// - Throws: ``KithFailure``, such as `session_not_found`, also for one that was deleted before.
  public func deleteConversation(_ id: Conversation.ID) async throws {
    _ = try await api.send(.delete("/api/v1/interactions/session/\(id)"))
  }

  private func interaction<Answer: Decodable & Sendable>(
    _ kind: String, in id: Timepoint.ID, _ request: some Encodable & Sendable, _ key: String
  ) async throws -> Answer {
    let call = try Call.post("/api/v1/interactions/\(id)/\(kind)", request)
    return try await api.value(
      call.with {
        $0.idempotencyKey = key
        $0.timeoutSeconds = Self.workSeconds
      })
  }

  private func stream<Piece: Decodable & Sendable & Equatable, Whole: Decodable & Sendable & Equatable>(
    _ kind: String, in id: Timepoint.ID, _ request: some Encodable & Sendable, _ key: String
  ) -> AsyncThrowingStream<StreamedAnswer<Piece, Whole>, any Error> {
    BoundedBuffer.stream(countMax: Self.piecesMax) { [api] answers in
      // With the same key the answer is made once: a repetition gets it whole.
      try await RepeatedStream(api: api).read { _ in
        try Call.post("/api/v1/interactions/\(id)/\(kind)/stream", request).with { $0.idempotencyKey = key }
      } _: { event in
        let data = Data(event.data.utf8)
        switch try WireCoding.decode(InteractionEvent<JSONValue>.self, from: data).event {
        case "token", "line":
          try await answers.send(.piece(try WireCoding.decode(InteractionEvent<Piece>.self, from: data).data))
          return false
        case "done":
          try await answers.send(.whole(try WireCoding.decode(InteractionEvent<Whole>.self, from: data).data))
          return true
        case "error":
          let failure = try WireCoding.decode(InteractionEvent<JSONValue>.self, from: data)
          throw KithFailure.refused(
            Refusal(
              status: 200, code: failure.code.map(FailureCode.init) ?? .known(.answerFailed),
              message: failure.data.string ?? "The answer has failed."))
        default: return false
        }
      }
    }
  }
}
