import Foundation
import Wire

/// A phone that wants to be told, and the token by which its maker's service finds it.
struct Device: Sendable, Hashable {
  let id: DeviceID
  /// The device by a small integer, for an app that knows no UUIDs; nil until it is registered.
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

  /// The oldest beyond these are forgotten.
  static let countMaxPerUser = 20

  /// In lower case.
  ///
  /// - Throws: the validation failure that names `field`, unless it is as many hex digits as `digits` says.
  static func token(_ text: String, field: String, digits: ClosedRange<Int>) throws(Failure) -> String {
    guard digits.contains(text.utf8.count), text.wholeMatch(of: /[0-9a-fA-F]+/) != nil else {
      let words = digits.count == 1 ? "\(digits.lowerBound)" : "\(digits.lowerBound) to \(digits.upperBound)"
      throw .invalid(.init(field, "must be \(words) hexadecimal digits"))
    }
    return text.lowercased()
  }

  /// - Throws: the validation failure that names `field`, unless it is a platform that there is.
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
