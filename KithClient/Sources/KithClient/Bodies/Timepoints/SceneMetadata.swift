/// How a scene was made.
public struct SceneMetadata: Sendable, Equatable, Codable {
  /// When and where a scene is.
  public struct Timeline: Sendable, Equatable, Codable {
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

    private enum CodingKeys: String, CodingKey {
      case year, month, day, hour, minute, second, season, era, location
      case timeOfDay = "time_of_day"
      case historicalContext = "historical_context"
    }

    public init(
      year: Int, month: Int? = nil, day: Int? = nil, hour: Int? = nil, minute: Int? = nil, second: Int? = nil,
      season: String? = nil, timeOfDay: String?, era: String?, location: String?, historicalContext: String?
    ) {
      self.year = year
      self.month = month
      self.day = day
      self.hour = hour
      self.minute = minute
      self.second = second
      self.season = season
      self.timeOfDay = timeOfDay
      self.era = era
      self.location = location
      self.historicalContext = historicalContext
    }
  }

  /// From where a scene is seen.
  public struct Camera: Sendable, Equatable, Codable {
    public let shot: String?
    public let angle: String?
    public let focalPoint: String?
    public let composition: String?

    private enum CodingKeys: String, CodingKey {
      case shot, angle, composition
      case focalPoint = "focal_point"
    }

    public init(shot: String?, angle: String?, focalPoint: String?, composition: String?) {
      self.shot = shot
      self.angle = angle
      self.focalPoint = focalPoint
      self.composition = composition
    }
  }

  public let title: String?
  public let timeline: Timeline?
  public let camera: Camera?
  public let imageStyle: String?
  /// The scene from which a jump has led here.
  @NullCodable public private(set) var parentID: Timepoint.ID?
  /// Of that jump: `next` or `prior`.
  @NullCodable public private(set) var direction: String?

  private enum CodingKeys: String, CodingKey {
    case title, timeline, camera, direction
    case imageStyle = "image_style"
    case parentID = "parent_id"
  }

  public init(
    title: String?, timeline: Timeline?, camera: Camera?, imageStyle: String?, parentID: Timepoint.ID?,
    direction: String?
  ) {
    self.title = title
    self.timeline = timeline
    self.camera = camera
    self.imageStyle = imageStyle
    self.parentID = parentID
    self.direction = direction
  }
}
