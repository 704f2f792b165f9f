extension ScavengerHunt {
  /// A checkpoint of a hunt that is made.
  public struct NewCheckpoint: Sendable, Encodable {
    public let title: String
    public let description: String?
    public let location: Coordinate?
    public let photoRequired: Bool
    public let points: Int

    private enum CodingKeys: String, CodingKey {
      case title, description, location, points
      case photoRequired = "photo_required"
    }

    /// - Parameter photoRequired: whether a submission has to name a photo.
    public init(
      title: String, description: String? = nil, location: Coordinate? = nil, photoRequired: Bool = false,
      points: Int = 10
    ) {
      self.title = title
      self.description = description
      self.location = location
      self.photoRequired = photoRequired
      self.points = points
    }

    /// - Parameter hunt: nil: that of the checkpoint that is changed.
    func body(of hunt: String? = nil) -> Body {
      Body(
        huntID: hunt, title: title, description: description, location: location, photoRequired: photoRequired,
        points: points)
    }

    struct Body: Encodable, Sendable {
      let huntID: String?
      let title: String
      let description: String?
      let location: Coordinate?
      let photoRequired: Bool
      let points: Int

      private enum CodingKeys: String, CodingKey {
        case title, description, location, points
        case huntID = "hunt_id"
        case photoRequired = "photo_required"
      }
    }
  }
}
