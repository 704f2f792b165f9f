import Foundation
import Wire

/// Where a task reminds somebody of itself, and how.
struct TaskLocation: Sendable, Hashable, Codable {
  var isBased = false
  var name: String?
  var latitude: Double?
  var longitude: Double?
  var radiusMeters: Int?
  var notifiesOnArrival: Bool?
  var notifiesOnDeparture: Bool?
  var everyMinutes: Int?

  private enum CodingKeys: String, CodingKey {
    case isBased = "location_based"
    case name = "location_name"
    case latitude = "location_latitude"
    case longitude = "location_longitude"
    case radiusMeters = "location_radius_meters"
    case notifiesOnArrival = "notify_on_arrival"
    case notifiesOnDeparture = "notify_on_departure"
    case everyMinutes = "notification_interval_minutes"
  }

  static let nameMax = 255
}

/// What a body says about it.
struct TaskLocationChange: Sendable {
  private let isBased: Given<Bool>
  private let name: Given<String>
  private let latitude: Given<Double>
  private let longitude: Given<Double>
  private let radiusMeters: Given<Int>
  private let notifiesOnArrival: Given<Bool>
  private let notifiesOnDeparture: Given<Bool>
  private let everyMinutes: Given<Int>

  init(_ fields: inout Fields) {
    isBased = fields.flag("location_based")
    name = fields.text("location_name", 0...TaskLocation.nameMax)
    latitude = fields.decimal("location_latitude", -90...90)
    longitude = fields.decimal("location_longitude", -180...180)
    radiusMeters = fields.number("location_radius_meters", 0...1_000_000, orNull: true)
    notifiesOnArrival = fields.flag("notify_on_arrival")
    notifiesOnDeparture = fields.flag("notify_on_departure")
    everyMinutes = fields.number("notification_interval_minutes", 0...525_600, orNull: true)
  }

  func applied(to old: TaskLocation?) -> TaskLocation? {
    var new = old ?? TaskLocation()
    new.isBased = isBased.or(new.isBased) ?? new.isBased
    new.name = name.or(new.name)
    new.latitude = latitude.or(new.latitude)
    new.longitude = longitude.or(new.longitude)
    new.radiusMeters = radiusMeters.or(new.radiusMeters)
    new.notifiesOnArrival = notifiesOnArrival.or(new.notifiesOnArrival)
    new.notifiesOnDeparture = notifiesOnDeparture.or(new.notifiesOnDeparture)
    new.everyMinutes = everyMinutes.or(new.everyMinutes)
    return new == TaskLocation() ? nil : new
  }
}
