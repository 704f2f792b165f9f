/// A place on a map.
public struct Coordinate: Sendable, Hashable, Codable {
  public let latitude: Double
  public let longitude: Double

  /// - Parameters:
  ///   - latitude: in degrees, -90 to 90.
  ///   - longitude: in degrees, -180 to 180.
  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}
