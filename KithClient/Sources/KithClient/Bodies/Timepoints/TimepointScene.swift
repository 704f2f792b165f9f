/// The people in a scene, and what they are to each other.
public struct SceneCharacters: Sendable, Equatable, Codable {
  /// A person in a scene.
  public struct Character: Sendable, Equatable, Codable {
    public let name: String
    public let role: String?
    public let description: String?
    public let clothing: String?
    public let personality: String?
    public let speakingStyle: String?
    public let emotionalState: String?
    /// What the person wants to talk about now.
    public let dialogContext: String?
    public let historicalNote: String?
    public let speaksInScene: Bool?

    private enum CodingKeys: String, CodingKey {
      case name, role, description, clothing, personality
      case speakingStyle = "speaking_style"
      case emotionalState = "emotional_state"
      case dialogContext = "dialog_context"
      case historicalNote = "historical_note"
      case speaksInScene = "speaks_in_scene"
    }

    public init(
      name: String, role: String?, description: String?, clothing: String?, personality: String?,
      speakingStyle: String?, emotionalState: String?, dialogContext: String?, historicalNote: String?,
      speaksInScene: Bool?
    ) {
      self.name = name
      self.role = role
      self.description = description
      self.clothing = clothing
      self.personality = personality
      self.speakingStyle = speakingStyle
      self.emotionalState = emotionalState
      self.dialogContext = dialogContext
      self.historicalNote = historicalNote
      self.speaksInScene = speaksInScene
    }
  }

  /// What a person is to another one, by their names.
  public struct Relationship: Sendable, Equatable, Codable {
    public let from: String
    public let to: String
    public let kind: String
    public let description: String?

    public init(from: String, to: String, kind: String, description: String?) {
      self.from = from
      self.to = to
      self.kind = kind
      self.description = description
    }
  }

  public let characters: [Character]
  public let relationships: [Relationship]?

  public init(characters: [Character], relationships: [Relationship]?) {
    self.characters = characters
    self.relationships = relationships
  }
}

/// What is to be seen, heard and smelled in a scene.
public struct SceneSetting: Sendable, Equatable, Codable {
  public let setting: String?
  public let atmosphere: String?
  public let weather: String?
  public let lighting: String?
  public let sounds: [String]?
  public let smells: [String]?
  public let objects: [String]?

  public init(
    setting: String?, atmosphere: String?, weather: String?, lighting: String?, sounds: [String]?, smells: [String]?,
    objects: [String]?
  ) {
    self.setting = setting
    self.atmosphere = atmosphere
    self.weather = weather
    self.lighting = lighting
    self.sounds = sounds
    self.smells = smells
    self.objects = objects
  }
}

/// What somebody says.
public struct DialogLine: Sendable, Equatable, Codable {
  public let speaker: String
  public let text: String
  public let tone: String?
  /// What the speaker does meanwhile; empty for nothing.
  public let action: String?

  public init(speaker: String, text: String, tone: String? = nil, action: String?) {
    self.speaker = speaker
    self.text = text
    self.tone = tone
    self.action = action
  }
}

/// What happens in a scene.
public struct SceneMoment: Sendable, Equatable, Codable {
  public let summary: String?
  public let before: String?
  public let after: String?
  public let stakes: String?
  public let tension: String?
  public let emotionalBeats: [String]?

  private enum CodingKeys: String, CodingKey {
    case summary, before, after, stakes, tension
    case emotionalBeats = "emotional_beats"
  }

  public init(
    summary: String?, before: String?, after: String?, stakes: String?, tension: String?, emotionalBeats: [String]?
  ) {
    self.summary = summary
    self.before = before
    self.after = after
    self.stakes = stakes
    self.tension = tension
    self.emotionalBeats = emotionalBeats
  }
}

/// How much of a scene is known, and what is made up.
public struct SceneGrounding: Sendable, Equatable, Codable {
  public let verifiedFacts: [String]?
  public let assumptions: [String]?
  /// 0 to 1.
  public let confidence: Double?

  private enum CodingKeys: String, CodingKey {
    case assumptions, confidence
    case verifiedFacts = "verified_facts"
  }

  public init(verifiedFacts: [String]?, assumptions: [String]?, confidence: Double?) {
    self.verifiedFacts = verifiedFacts
    self.assumptions = assumptions
    self.confidence = confidence
  }
}
