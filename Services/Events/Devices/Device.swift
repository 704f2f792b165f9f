import Foundation
import Wire

/// A device that a user has registered for push notifications, with its push token.
struct Device: Sendable, Hashable {
  let id: DeviceID
  /// An integer id, for an app that does not support UUIDs; nil until the device is registered.
  var number: Int?
  let token: String
  let platform: Platform
  /// nil when the app has not said with which of Apple's servers its token works. Production is tried first.
  var environment: APNsEnvironment?
  /// The IANA name of the time zone in which the device is.
  var timeZone: String?
  var bundleID: String?
  var name: String?
  var osVersion: String?
  var appVersion: String?
  /// When it is, or was last, told in silence that something has changed.
  var wokenAt: Date?
  let createdAt: Date
  let updatedAt: Date

  enum Platform: String, Codable, Sendable {
    case ios, android
  }

  /// When a user registers more devices, those updated longest ago are deleted.
  static let countMaxPerUser = 20

  /// The token in lower case.
  ///
  /// - Throws: the validation failure that names `field`, unless it consists of hex digits, as many as `digits` allows.
  static func token(_ text: String, field: String, digits: ClosedRange<Int>) throws(Failure) -> String {
    guard digits.contains(text.utf8.count), text.wholeMatch(of: /[0-9a-fA-F]+/) != nil else {
      let count = digits.count == 1 ? "\(digits.lowerBound)" : "\(digits.lowerBound) to \(digits.upperBound)"
      throw .invalid(.init(field, "must be \(count) hexadecimal digits"))
    }
    return text.lowercased()
  }

  /// - Throws: the validation failure that names `field`, unless it is the name of a ``Platform``.
  static func platform(_ text: String, field: String) throws(Failure) -> Platform {
    guard let platform = Platform(rawValue: text.lowercased()) else {
      throw .invalid(.init(field, "must be ios or android"))
    }
    return platform
  }

  /// - Throws: the validation failure that names `field`, unless it is nil or the name of an ``APNsEnvironment``.
  static func environment(_ text: String?, field: String) throws(Failure) -> APNsEnvironment? {
    guard let text, !text.isEmpty else { return nil }
    guard let environment = APNsEnvironment(rawValue: text.lowercased()) else {
      throw .invalid(.init(field, "must be production or sandbox"))
    }
    return environment
  }

  /// - Throws: the validation failure that names `field`, unless it is nil or the name of a time zone.
  static func timeZone(_ text: String?, field: String) throws(Failure) -> String? {
    guard let text, !text.isEmpty else { return nil }
    guard text.utf8.count <= 64, let zone = TimeZone(identifier: text) else {
      throw .invalid(.init(field, "must be the name of a time zone, such as Europe/Oslo"))
    }
    return zone.identifier
  }
}

/// Which of Apple's servers a push token works with: that of apps from the store, or that of apps in development.
enum APNsEnvironment: String, Codable, Sendable, CaseIterable {
  case production, sandbox
}

typealias DeviceID = ID<Device>

extension Failure {
  static let deviceNotFound = Failure(.notFound, "device_not_found", "There is no such device.")
}
