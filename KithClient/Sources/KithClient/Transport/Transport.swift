import Foundation

/// Sends requests. Apps and tests can replace it, for example to pin certificates.
public protocol Transport: Sendable {
  /// Sends a request, and returns when the head of the response is there. Never follows a redirect: a bearer token must
  /// not go to another host.
  ///
  /// - Parameter progress: is called with the bytes sent so far.
  /// - Throws: ``NoAnswer``, or `CancellationError`.
  func stream(_ request: HTTPRequest, progress: (@Sendable (Int64) -> Void)?) async throws -> HTTPStream
}

/// There was no response, or not all of it: the server may have done what the request asked for, or not.
public struct NoAnswer: Error, Sendable, Equatable {
  /// For logs.
  public let reason: String

  /// - Parameter reason: for logs.
  public init(_ reason: String) { self.reason = reason }
}
