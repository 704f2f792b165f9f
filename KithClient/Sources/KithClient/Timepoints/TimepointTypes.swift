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

/// A jump in time: the target is a scene in its own right.
public struct TemporalJump: Sendable, Equatable, Decodable {
  public let sourceID: Timepoint.ID
  public let targetID: Timepoint.ID
  public let sourceYear: Int?
  public let targetYear: Int?
}
