import Web

/// How many generations run at once, and how long they may take.
struct GenerationSettings: Sendable {
  /// In this process.
  let atOnce: Int
  /// In all processes together.
  let atOncePerUser: Int
  /// How long a request waits for a scene.
  let timeout: Duration

  /// A hold lasts longer than its job may: work that is done can always be charged.
  static let holdSeconds = 86_400
  static let jobSecondsMax = 12.0 * 3600
  /// A job that so many processes have begun and not ended is given up.
  static let triesMax = 10

  init(_ settings: Settings) throws {
    atOnce = try settings.int("GENERATIONS_AT_ONCE", default: 4, in: 1...1000)
    atOncePerUser = try settings.int("GENERATIONS_AT_ONCE_PER_USER", default: 2, in: 1...1000)
    timeout = .seconds(try settings.int("GENERATION_TIMEOUT_SECONDS", default: 120, in: 1...600))
  }
}
