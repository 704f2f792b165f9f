import Foundation
import Wire

/// A device that a user has registered for push notifications, with its push token.
struct Device: Sendable, Hashable {
  let id: DeviceID
  /// An integer id, for an app that does not support UUIDs; nil until the device is registered.
  var number: Int?
  let token: String
  let platform: Platform
  var bundleID: String?
  var name: String?
  var osVersion: String?
  var appVersion: String?
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
}

typealias DeviceID = ID<Device>

extension Failure {
  static let deviceNotFound = Failure(.notFound, "device_not_found", "There is no such device.")
}
