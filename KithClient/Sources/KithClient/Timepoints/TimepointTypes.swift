import Foundation

/// A scene from history.
public struct Timepoint: Sendable, Equatable, Decodable, Identifiable {
  public let id: String
  public let query: String
  public let slug: String
  /// `pending`, `processing`, `completed` or `failed`.
  public let status: String
  /// Negative before our era, never 0.
  public let year: Int?
  public let location: String?
  public let hasImage: Bool?
  public let imageURL: URL?
  public let visibility: Visibility?
  public let shareURL: URL?
  public let error: String?
  public let createdAt: Date?
  /// Only in full: the people, the scene, what they say.
  public let characters: JSONValue?
  public let scene: JSONValue?
  public let dialog: JSONValue?

  public var isFinished: Bool { status == "completed" || status == "failed" }

  public enum Visibility: String, Sendable, Codable { case `public`, `private` }
}

/// A scene in a list.
public struct TimepointSummary: Sendable, Equatable, Decodable, Identifiable {
  public let id: String
  public let query: String
  public let slug: String
  public let status: String
  public let year: Int?
  public let location: String?
  public let hasImage: Bool?
  public let createdAt: Date?
}

/// A page of a list.
public struct TimepointPage<Item: Sendable & Equatable & Decodable>: Sendable, Equatable, Decodable {
  public let items: [Item]
  public let total: Int
  public let page: Int
  public let pageSize: Int
}

/// What a scene is to be.
public struct TimepointRequest: Sendable, Encodable {
  public enum Preset: String, Sendable, Encodable { case hd, hyper, balanced, gemini3 }

  /// 3 to 500 characters.
  public let query: String
  public var generateImage = false
  public var preset = Preset.balanced
  public var visibility = Timepoint.Visibility.public

  public init(_ query: String) { self.query = query }
}

/// How far the making of a scene is.
public struct TimepointProgress: Sendable, Equatable, Decodable {
  /// `start`, `step_complete`, `step_error`, `done` or `error`.
  public let event: String
  public let step: String?
  /// 0 to 100.
  public let progress: Double?
  public let data: JSONValue?
  public let error: String?

  /// Whether nothing comes after it.
  public var isLast: Bool { event == "done" || event == "error" }
  /// With `done`.
  public var timepointID: Timepoint.ID? { data?["timepoint_id"]?.string }
}

/// What a character answered.
public struct CharacterReply: Sendable, Equatable, Decodable {
  public let characterName: String
  public let response: String
  public let sessionID: String?
  public let emotionalTone: String?
}

/// What a character says.
public struct DialogLine: Sendable, Equatable, Decodable {
  public let speaker: String
  public let text: String
}

/// What characters answered to the same questions.
public struct CharacterSurvey: Sendable, Equatable, Decodable {
  public struct Answer: Sendable, Equatable, Decodable {
    public let characterName: String
    public let question: String
    public let response: String
    /// `positive`, `negative`, `neutral` or `mixed`.
    public let sentiment: String?
    public let keyPoints: [String]?
    public let emotionalTone: String?
  }

  public let responses: [Answer]
  public let summary: String?
}

/// Scenes in the order of time.
public struct TemporalSequence: Sendable, Equatable, Decodable {
  public struct Scene: Sendable, Equatable, Decodable, Identifiable {
    public let id: Timepoint.ID
    public let year: Int?
    public let slug: String
  }

  public let center: Scene
  /// The nearest first.
  public let prior: [Scene]
  public let next: [Scene]
}

/// The characters of a request: `all`, or their names.
struct CharacterNames: Sendable, Encodable {
  let names: [String]

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if names.isEmpty { try container.encode("all") } else { try container.encode(names) }
  }
}

/// A jump in time: the target is a scene in its own right.
public struct TemporalJump: Sendable, Equatable, Decodable {
  public let sourceID: Timepoint.ID
  public let targetID: Timepoint.ID
  public let sourceYear: Int?
  public let targetYear: Int?
}
