import Foundation
import Wire

/// The place at which the app reminds of a task, and the settings of the reminder.
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

/// The location fields of a request that creates or changes a task.
struct TaskLocationChange: Sendable {
  private let isBased: FieldValue<Bool>
  private let name: FieldValue<String>
  private let latitude: FieldValue<Double>
  private let longitude: FieldValue<Double>
  private let radiusMeters: FieldValue<Int>
  private let notifiesOnArrival: FieldValue<Bool>
  private let notifiesOnDeparture: FieldValue<Bool>
  private let everyMinutes: FieldValue<Int>

  init(_ fields: inout RequestFields) {
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
    new.isBased = isBased.applied(to: new.isBased) ?? new.isBased
    new.name = name.applied(to: new.name)
    new.latitude = latitude.applied(to: new.latitude)
    new.longitude = longitude.applied(to: new.longitude)
    new.radiusMeters = radiusMeters.applied(to: new.radiusMeters)
    new.notifiesOnArrival = notifiesOnArrival.applied(to: new.notifiesOnArrival)
    new.notifiesOnDeparture = notifiesOnDeparture.applied(to: new.notifiesOnDeparture)
    new.everyMinutes = everyMinutes.applied(to: new.everyMinutes)
    return new == TaskLocation() ? nil : new
  }
}
