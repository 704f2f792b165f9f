/// The people in a scene, as who talks with them needs to know them.
public struct TimepointCharacters: Sendable, Equatable, Codable {
  /// A person in a scene.
  public struct Character: Sendable, Equatable, Codable {
    public let name: String
    public let role: String
    /// Who the person is, in words of the scene.
    public let systemPrompt: String
    public let dialogContext: String
    public let speaksInScene: Bool
    public let personality: String
    public let speakingStyle: String
    public let emotionalState: String
    public let historicalNote: String

    private enum CodingKeys: String, CodingKey {
      case name, role, personality
      case systemPrompt = "system_prompt"
      case dialogContext = "dialog_context"
      case speaksInScene = "speaks_in_scene"
      case speakingStyle = "speaking_style"
      case emotionalState = "emotional_state"
      case historicalNote = "historical_note"
    }

    public init(
      name: String, role: String, systemPrompt: String, dialogContext: String, speaksInScene: Bool, personality: String,
      speakingStyle: String, emotionalState: String, historicalNote: String
    ) {
      self.name = name
      self.role = role
      self.systemPrompt = systemPrompt
      self.dialogContext = dialogContext
      self.speaksInScene = speaksInScene
      self.personality = personality
      self.speakingStyle = speakingStyle
      self.emotionalState = emotionalState
      self.historicalNote = historicalNote
    }
  }

  public let timepointID: Timepoint.ID
  public let query: String
  @NullCodable public private(set) var year: Int?
  @NullCodable public private(set) var location: String?
  @NullCodable public private(set) var era: String?
  public let totalCharacters: Int
  public let speakingCharacters: Int
  public let characters: [Character]

  private enum CodingKeys: String, CodingKey {
    case query, year, location, era, characters
    case timepointID = "timepoint_id"
    case totalCharacters = "total_characters"
    case speakingCharacters = "speaking_characters"
  }

  public init(
    timepointID: Timepoint.ID, query: String, year: Int?, location: String?, era: String?, totalCharacters: Int,
    speakingCharacters: Int, characters: [Character]
  ) {
    self.timepointID = timepointID
    self.query = query
    self.year = year
    self.location = location
    self.era = era
    self.totalCharacters = totalCharacters
    self.speakingCharacters = speakingCharacters
    self.characters = characters
  }
}
