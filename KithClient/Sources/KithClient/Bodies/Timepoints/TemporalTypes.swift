/// Scenes in the order of time.
public struct TemporalSequence: Sendable, Equatable, Codable {
  /// A scene of a sequence.
  public struct Scene: Sendable, Equatable, Codable, Identifiable {
    public let id: Timepoint.ID
    @NullCodable public private(set) var year: Int?
    public let slug: String

    public init(id: Timepoint.ID, year: Int?, slug: String) {
      self.id = id
      self.year = year
      self.slug = slug
    }
  }

  public let center: Scene
  /// The nearest first.
  public let prior: [Scene]
  public let next: [Scene]

  public init(center: Scene, prior: [Scene], next: [Scene]) {
    self.center = center
    self.prior = prior
    self.next = next
  }
}

/// A jump in time: the target is a scene in its own right.
public struct TemporalJump: Sendable, Equatable, Codable {
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

  private enum CodingKeys: String, CodingKey {
    case direction, units, unit, message
    case sourceID = "source_id"
    case targetID = "target_id"
    case sourceYear = "source_year"
    case targetYear = "target_year"
  }

  public init(
    sourceID: Timepoint.ID, targetID: Timepoint.ID, sourceYear: Int?, targetYear: Int?, direction: String?, units: Int?,
    unit: String?, message: String?
  ) {
    self.sourceID = sourceID
    self.targetID = targetID
    self.sourceYear = sourceYear
    self.targetYear = targetYear
    self.direction = direction
    self.units = units
    self.unit = unit
    self.message = message
  }
}
