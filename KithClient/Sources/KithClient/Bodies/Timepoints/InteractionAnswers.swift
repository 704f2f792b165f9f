/// What a character answered.
public struct CharacterReply: Sendable, Equatable, Codable {
  public let characterName: String
  public let response: String
  /// Where the conversation is saved.
  @NullCodable public private(set) var sessionID: Conversation.ID?
  /// nil for an answer that was asked for as text.
  @NullCodable public private(set) var emotionalTone: String?
  /// In milliseconds.
  public let latencyMs: Int?

  private enum CodingKeys: String, CodingKey {
    case response
    case characterName = "character_name"
    case sessionID = "session_id"
    case emotionalTone = "emotional_tone"
    case latencyMs = "latency_ms"
  }

  public init(
    characterName: String, response: String, sessionID: Conversation.ID?, emotionalTone: String?, latencyMs: Int?
  ) {
    self.characterName = characterName
    self.response = response
    self.sessionID = sessionID
    self.emotionalTone = emotionalTone
    self.latencyMs = latencyMs
  }
}

/// What characters went on to say.
public struct CharacterDialog: Sendable, Equatable, Codable {
  public let dialog: [DialogLine]
  /// What happens in the scene.
  public let context: String?
  public let charactersInvolved: [String]?
  /// In milliseconds.
  public let latencyMs: Int?

  private enum CodingKeys: String, CodingKey {
    case dialog, context
    case charactersInvolved = "characters_involved"
    case latencyMs = "latency_ms"
  }

  public init(dialog: [DialogLine], context: String?, charactersInvolved: [String]?, latencyMs: Int?) {
    self.dialog = dialog
    self.context = context
    self.charactersInvolved = charactersInvolved
    self.latencyMs = latencyMs
  }
}

/// What characters answered to the same questions.
public struct CharacterSurvey: Sendable, Equatable, Codable {
  /// What one character answered to one question.
  public struct Answer: Sendable, Equatable, Codable {
    public let characterName: String
    public let question: String
    public let response: String
    /// `positive`, `negative`, `neutral` or `mixed`.
    public let sentiment: String?
    public let keyPoints: [String]?
    public let emotionalTone: String?

    private enum CodingKeys: String, CodingKey {
      case question, response, sentiment
      case characterName = "character_name"
      case keyPoints = "key_points"
      case emotionalTone = "emotional_tone"
    }

    public init(
      characterName: String, question: String, response: String, sentiment: String?, keyPoints: [String]?,
      emotionalTone: String?
    ) {
      self.characterName = characterName
      self.question = question
      self.response = response
      self.sentiment = sentiment
      self.keyPoints = keyPoints
      self.emotionalTone = emotionalTone
    }
  }

  public let timepointID: Timepoint.ID?
  public let questions: [String]?
  /// In the order of the questions, and for each in that of the characters.
  public let responses: [Answer]
  @NullCodable public private(set) var summary: String?
  /// `parallel` or `sequential`.
  public let mode: String?
  public let totalCharacters: Int?
  /// In milliseconds.
  public let latencyMs: Int?

  private enum CodingKeys: String, CodingKey {
    case questions, responses, summary, mode
    case timepointID = "timepoint_id"
    case totalCharacters = "total_characters"
    case latencyMs = "latency_ms"
  }

  public init(
    timepointID: Timepoint.ID?, questions: [String]?, responses: [Answer], summary: String?, mode: String?,
    totalCharacters: Int?, latencyMs: Int?
  ) {
    self.timepointID = timepointID
    self.questions = questions
    self.responses = responses
    self.summary = summary
    self.mode = mode
    self.totalCharacters = totalCharacters
    self.latencyMs = latencyMs
  }
}

/// One event of a stream of an interaction.
package struct InteractionEvent<Content: Sendable>: Sendable {
  /// `token`, `line`, `done` or `error`.
  package let event: String
  package let data: Content
  @NullCodable package private(set) var characterName: String?
  /// Of an error.
  package let code: String?

  private enum CodingKeys: String, CodingKey {
    case event, data, code
    case characterName = "character_name"
  }

  package init(event: String, data: Content, characterName: String?, code: String? = nil) {
    self.event = event
    self.data = data
    self.characterName = characterName
    self.code = code
  }
}

extension InteractionEvent: Encodable where Content: Encodable {}
extension InteractionEvent: Decodable where Content: Decodable {}
