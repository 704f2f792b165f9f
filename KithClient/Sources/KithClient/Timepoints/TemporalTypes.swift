/// Scenes in the order of time.
public struct TemporalSequence: Sendable, Equatable, Decodable {
  /// A scene of a sequence.
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

/// A jump in time: the target is a scene in its own right.
public struct TemporalJump: Sendable, Equatable, Decodable {
  public let sourceID: Timepoint.ID
  public let targetID: Timepoint.ID
  public let sourceYear: Int?
  public let targetYear: Int?
  /// `next` or `prior`.
  public let direction: String?
  public let units: Int?
  public let unit: String?
  /// For people.
  public let message: String?
}
