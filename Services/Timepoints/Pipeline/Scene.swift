/// Whether a query names a moment in time.
struct Judgement: Codable, Hashable, Sendable {
  let isMoment: Bool
  /// The query as a title, without spelling mistakes.
  let title: String
  /// What to say to the user when it is no moment.
  let reason: String

  enum CodingKeys: String, CodingKey {
    case isMoment = "is_moment"
    case title, reason
  }
}

/// When and where the scene is.
struct Timeline: Codable, Hashable, Sendable {
  /// Negative before our era: -44 is 44 BCE. Never 0.
  var year: Int
  var month: Int?
  var day: Int?
  var hour: Int?
  var minute: Int?
  var second: Int?
  var season: String?
  let timeOfDay: String
  let era: String
  let location: String
  let historicalContext: String

  enum CodingKeys: String, CodingKey {
    case year, month, day, hour, minute, second, season, era, location
    case timeOfDay = "time_of_day"
    case historicalContext = "historical_context"
  }
}

/// What is to be seen, heard and smelled.
struct SceneSetting: Codable, Hashable, Sendable {
  let setting: String
  let atmosphere: String
  let weather: String
  let lighting: String
  let sounds: [String]
  let smells: [String]
  let objects: [String]
}

/// A person in the scene.
struct SceneCharacter: Codable, Hashable, Sendable {
  let name: String
  let role: String
  let description: String
  let clothing: String
  let personality: String
  let speakingStyle: String
  let emotionalState: String
  /// What the person wants to talk about now.
  let dialogContext: String
  let historicalNote: String
  let speaksInScene: Bool

  enum CodingKeys: String, CodingKey {
    case name, role, description, clothing, personality
    case speakingStyle = "speaking_style"
    case emotionalState = "emotional_state"
    case dialogContext = "dialog_context"
    case historicalNote = "historical_note"
    case speaksInScene = "speaks_in_scene"
  }
}

/// At most six people.
struct SceneCharacters: Codable, Hashable, Sendable {
  let characters: [SceneCharacter]
}

/// Who is what to whom.
struct CharacterGraph: Codable, Hashable, Sendable {
  struct Relationship: Codable, Hashable, Sendable {
    let from: String
    let to: String
    let kind: String
    let description: String
  }

  let relationships: [Relationship]
}

/// What happens.
struct Moment: Codable, Hashable, Sendable {
  let summary: String
  let before: String
  let after: String
  let stakes: String
  let tension: String
  let emotionalBeats: [String]

  enum CodingKeys: String, CodingKey {
    case summary, before, after, stakes, tension
    case emotionalBeats = "emotional_beats"
  }
}

/// From where it is seen.
struct Camera: Codable, Hashable, Sendable {
  let shot: String
  let angle: String
  let focalPoint: String
  let composition: String

  enum CodingKeys: String, CodingKey {
    case shot, angle, composition
    case focalPoint = "focal_point"
  }
}

/// What somebody says.
struct DialogLine: Codable, Hashable, Sendable {
  let speaker: String
  let text: String
  let tone: String
  /// What the speaker does meanwhile; empty for nothing.
  let action: String
}

struct Dialog: Codable, Hashable, Sendable {
  let lines: [DialogLine]
}

/// How much of the scene is known, and what is made up.
struct Grounding: Codable, Hashable, Sendable {
  let verifiedFacts: [String]
  let assumptions: [String]
  /// From 0 to 1.
  let confidence: Double

  enum CodingKeys: String, CodingKey {
    case verifiedFacts = "verified_facts"
    case assumptions, confidence
  }
}

struct ImagePrompt: Codable, Hashable, Sendable {
  let prompt: String
  let style: String
}

/// The result of the step of the picture. The bytes are in the ``StepStore``.
struct ImageOutcome: Codable, Hashable, Sendable {
  let hasImage: Bool
  /// Why there is none, as a sentence that may be shown.
  let error: String?

  enum CodingKeys: String, CodingKey {
    case hasImage = "has_image"
    case error
  }
}
