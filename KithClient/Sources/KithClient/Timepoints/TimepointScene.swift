/// The people in a scene, and what they are to each other.
public struct SceneCharacters: Sendable, Equatable, Decodable {
  /// A person in a scene.
  public struct Character: Sendable, Equatable, Decodable {
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
  }

  /// What a person is to another one, by their names.
  public struct Relationship: Sendable, Equatable, Decodable {
    public let from: String
    public let to: String
    public let kind: String
    public let description: String?
  }

  public let characters: [Character]
  public let relationships: [Relationship]?
}

/// What is to be seen, heard and smelled in a scene.
public struct SceneSetting: Sendable, Equatable, Decodable {
  public let setting: String?
  public let atmosphere: String?
  public let weather: String?
  public let lighting: String?
  public let sounds: [String]?
  public let smells: [String]?
  public let objects: [String]?
}

/// What somebody says.
public struct DialogLine: Sendable, Equatable, Decodable {
  public let speaker: String
  public let text: String
  public let tone: String?
  /// What the speaker does meanwhile; empty for nothing.
  public let action: String?
}

/// What happens in a scene.
public struct SceneMoment: Sendable, Equatable, Decodable {
  public let summary: String?
  public let before: String?
  public let after: String?
  public let stakes: String?
  public let tension: String?
  public let emotionalBeats: [String]?
}

/// How much of a scene is known, and what is made up.
public struct SceneGrounding: Sendable, Equatable, Decodable {
  public let verifiedFacts: [String]?
  public let assumptions: [String]?
  /// 0 to 1.
  public let confidence: Double?
}

/// How a scene was made.
public struct SceneMetadata: Sendable, Equatable, Decodable {
  /// When and where a scene is.
  public struct Timeline: Sendable, Equatable, Decodable {
    public let year: Int
    public let month: Int?
    public let day: Int?
    public let hour: Int?
    public let minute: Int?
    public let second: Int?
    public let season: String?
    public let timeOfDay: String?
    public let era: String?
    public let location: String?
    public let historicalContext: String?
  }

  /// From where a scene is seen.
  public struct Camera: Sendable, Equatable, Decodable {
    public let shot: String?
    public let angle: String?
    public let focalPoint: String?
    public let composition: String?
  }

  public let title: String?
  public let timeline: Timeline?
  public let camera: Camera?
  public let imageStyle: String?
  /// The scene from which a jump has led here.
  public let parentID: Timepoint.ID?
  /// Of that jump: `next` or `prior`.
  public let direction: String?
}

/// The people in a scene, as who talks with them needs to know them.
public struct TimepointCharacters: Sendable, Equatable, Decodable {
  /// A person in a scene.
  public struct Character: Sendable, Equatable, Decodable {
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
  }

  public let timepointID: Timepoint.ID
  public let query: String
  public let year: Int?
  public let location: String?
  public let era: String?
  public let totalCharacters: Int
  public let speakingCharacters: Int
  public let characters: [Character]
}
