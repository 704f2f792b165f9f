import Foundation

/// The signed-in user's account.
public struct Account: Sendable, Equatable, Decodable, Identifiable {
  public let id: String
  public let email: String?
  /// nil before it was given.
  public let displayName: String?
  public let createdAt: Date
}

/// What the user can change about themselves.
public struct Profile: Sendable, Equatable, Decodable {
  /// The number by which lists and tasks name the user.
  public let id: Int
  public let email: String
  public let name: String?
  public let timezone: String?
  /// A language tag.
  public let locale: String?
  public let avatarURL: String?
  public let hasPassword: Bool?
  /// The id everywhere else.
  public let uuid: String?
}

/// The user who signed in by phone. `firstName` is empty until it was given.
public struct PhoneUser: Sendable, Equatable, Decodable, Identifiable {
  public let id: String
  public let phoneNumber: String
  public let firstName: String
}

/// A device on which the user is signed in.
public struct DeviceSession: Sendable, Equatable, Decodable, Identifiable {
  public let id: String
  /// Whether it is this device.
  public let current: Bool
  public let device: String?
  public let createdAt: Date
  public let lastSeenAt: Date?
}

/// A way in which the user can sign in.
public struct Identity: Sendable, Equatable, Decodable {
  /// `apple`, `email`, `phone`, or the URL of an outside issuer.
  public let provider: String
  public let subject: String?
  public let email: String?
  public let verified: Bool?
}

/// How long a texted code is valid.
public struct SentCode: Sendable, Equatable, Decodable {
  public let message: String
  public let expiresIn: Double
}
