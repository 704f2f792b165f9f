/// What is said to a character.
public struct ChatRequest: Sendable, Encodable {
  /// What a character's answer consists of.
  public enum ResponseFormat: String, Sendable, Encodable {
    /// With the character's tone.
    case structured
    /// Words alone, which a stream passes on as they come.
    case text
    /// A stream is text, and everything else structured.
    case auto
  }

  let character: String
  let message: String
  let sessionID: Conversation.ID?
  let saveSession: Bool
  let model: TimepointModel.ID?
  let responseFormat: ResponseFormat

  private enum CodingKeys: String, CodingKey {
    case character, message, model
    case sessionID = "session_id"
    case saveSession = "save_session"
    case responseFormat = "response_format"
  }

  /// - Parameters:
  ///   - message: 1 to 4,000 characters.
  ///   - character: the name, or a part of it that only one has.
  ///   - conversation: a saved one that is gone on with.
  ///   - isSaved: whether a new conversation begins with it that is saved.
  ///   - model: nil: the server's choice.
  public init(
    _ message: String, to character: String, in conversation: Conversation.ID? = nil, isSaved: Bool = false,
    model: TimepointModel.ID? = nil, format: ResponseFormat = .auto
  ) {
    self.character = character
    self.message = message
    sessionID = conversation
    saveSession = isSaved
    self.model = model
    responseFormat = format
  }
}

/// What characters are to talk about.
public struct DialogRequest: Sendable, Encodable {
  let characters: CharacterNames
  let numLines: Int
  let prompt: String?
  let sequential: Bool
  let model: TimepointModel.ID?

  private enum CodingKeys: String, CodingKey {
    case characters, prompt, sequential, model
    case numLines = "num_lines"
  }

  /// - Parameters:
  ///   - topic: 1 to 4,000 characters. nil: they go on where the scene ends.
  ///   - characters: empty: all; at most 20.
  ///   - lineCount: 1 to 10.
  ///   - isSequential: in a stream, each line is made after the one before it, and comes at once.
  ///   - model: nil: the server's choice.
  public init(
    about topic: String? = nil, characters: [String] = [], lineCount: Int = 5, isSequential: Bool = true,
    model: TimepointModel.ID? = nil
  ) {
    self.characters = CharacterNames(names: characters)
    numLines = lineCount
    prompt = topic
    sequential = isSequential
    self.model = model
  }
}

/// What several characters are asked.
public struct SurveyRequest: Sendable, Encodable {
  /// In which order the characters are asked.
  public enum Mode: String, Sendable, Encodable { case parallel, sequential }

  let characters: CharacterNames
  let questions: [String]
  let mode: Mode
  let chainPrompts: Bool
  let includeSummary: Bool
  let model: TimepointModel.ID?

  private enum CodingKeys: String, CodingKey {
    case characters, questions, mode, model
    case chainPrompts = "chain_prompts"
    case includeSummary = "include_summary"
  }

  /// - Parameters:
  ///   - questions: 1 to 10, of at most 1,000 characters each.
  ///   - characters: empty: all; at most 20.
  ///   - mode: whether they are asked at the same time.
  ///   - isChained: whether each knows what was answered before. Then they are asked one after the other.
  ///   - hasSummary: whether the answers are summed up.
  ///   - model: nil: the server's choice.
  public init(
    _ questions: [String], characters: [String] = [], mode: Mode = .parallel, isChained: Bool = false,
    hasSummary: Bool = true, model: TimepointModel.ID? = nil
  ) {
    self.characters = CharacterNames(names: characters)
    self.questions = questions
    self.mode = mode
    chainPrompts = isChained
    includeSummary = hasSummary
    self.model = model
  }
}

/// The characters of a request: `all`, or their names.
struct CharacterNames: Sendable, Encodable {
  let names: [String]

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if names.isEmpty { try container.encode("all") } else { try container.encode(names) }
  }
}
