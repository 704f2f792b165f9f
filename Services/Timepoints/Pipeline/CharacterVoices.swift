/// One message of a conversation with a character.
struct ChatTurn: Codable, Hashable, Sendable {
  enum Speaker: String, Codable, Sendable { case user, character }

  let speaker: Speaker
  let text: String
}

struct CharacterReply: Codable, Hashable, Sendable {
  let response: String
  let emotionalTone: String
  let model: String
}

struct SurveyAnswer: Codable, Hashable, Sendable {
  enum Sentiment: String, Codable, Sendable { case positive, negative, neutral, mixed }

  let characterName: String
  let question: String
  let response: String
  let sentiment: Sentiment
  let keyPoints: [String]
  let emotionalTone: String

  enum CodingKeys: String, CodingKey {
    case question, response, sentiment
    case characterName = "character_name"
    case keyPoints = "key_points"
    case emotionalTone = "emotional_tone"
  }
}

/// What the characters of a scene say.
///
/// Each call asks a provider once, or twice when the first answer has the wrong form. All throw ``PipelineFailure`` and
/// `CancellationError`. `model` is a model of ``ModelsCatalog`` that is tried first.
protocol CharacterVoices: Sendable {
  /// - Parameter history: the conversation so far, the oldest turn first; only its end is sent.
  func reply(
    to message: String, by character: SceneCharacter, in scene: GeneratedScene, history: [ChatTurn], model: String?
  ) async throws -> CharacterReply

  /// The same by pieces of text. Ends with an error when the provider does, after which the pieces are no answer.
  func replyPieces(
    to message: String, by character: SceneCharacter, in scene: GeneratedScene, history: [ChatTurn], model: String?
  ) -> AsyncThrowingStream<String, any Error>

  /// Lines that these characters say next. With `topic`, what they are to speak about.
  func lines(
    _ count: Int, of characters: [SceneCharacter], in scene: GeneratedScene, topic: String?,
    after earlier: [DialogLine],
    model: String?
  ) async throws -> [DialogLine]

  /// - Parameter earlier: answers that the character knows of.
  func answer(
    to question: String, by character: SceneCharacter, in scene: GeneratedScene, earlier: [SurveyAnswer], model: String?
  ) async throws -> SurveyAnswer

  func summary(of answers: [SurveyAnswer], in scene: GeneratedScene, model: String?) async throws -> String
}
