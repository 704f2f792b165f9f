/// How far the making of a scene is.
public struct TimepointProgress: Sendable, Equatable, Codable {
  /// What ``event`` can be. Apps may meet other names.
  package enum Name: String, Sendable {
    case start, done, error
    case stepComplete = "step_complete"
    case stepError = "step_error"

    /// Whether nothing comes after it.
    package var isLast: Bool { self == .done || self == .error }
  }

  /// `start`, `step_complete`, `step_error`, `done` or `error`.
  public let event: String
  public let step: String?
  /// 0 to 100.
  public let progress: Double?
  @NullCodable public private(set) var data: JSONValue?
  /// Of `step_error`, after which the scene is made without this step, and of `error`.
  @NullCodable public private(set) var error: String?

  /// Whether nothing comes after it.
  public var isLast: Bool { Name(rawValue: event)?.isLast ?? false }
  /// With `done`.
  public var timepointID: Timepoint.ID? { data?["timepoint_id"]?.string }

  public init(event: String, step: String? = nil, progress: Double?, data: JSONValue?, error: String?) {
    self.event = event
    self.step = step
    self.progress = progress
    self.data = data
    self.error = error
  }
}

/// A scene whose making has begun.
package struct StartedTimepointAnswer: Sendable, Codable {
  package let id: Timepoint.ID
  package let status: String?
  package let message: String?
  @NullCodable package private(set) var requestContext: JSONValue?

  private enum CodingKeys: String, CodingKey {
    case id, status, message
    case requestContext = "request_context"
  }

  package init(id: Timepoint.ID, status: String?, message: String?, requestContext: JSONValue?) {
    self.id = id
    self.status = status
    self.message = message
    self.requestContext = requestContext
  }
}
