import Foundation

/// Sends a request until there is an answer, as often as the policy allows.
struct Exchanger: Sendable {
  let transport: any Transport
  let policy: RetryPolicy
  /// Sent with every request, where the server asks for one.
  var apiKey: String?

  /// One attempt.
  func stream(_ request: HTTPRequest, progress: (@Sendable (Int64) -> Void)? = nil) async throws -> HTTPStream {
    var request = request
    request.headers["apikey"] = apiKey
    return try await transport.stream(request, progress: progress)
  }

  /// - Returns: any answer, also of an error.
  /// - Throws: ``KithFailure/unreachable(_:)``, or `CancellationError`.
  func send(
    _ request: HTTPRequest, isRepeatable: Bool, progress: (@Sendable (Int64) -> Void)? = nil
  ) async throws -> HTTPResponse {
    var isMaybeDone = false
    var attempt = 1
    while true {
      let wait: Duration
      do {
        let response = try await stream(request, progress: progress).collected()
        guard let pause = policy.wait(after: .answer(response), attempt: attempt, isRepeatable: isRepeatable) else {
          return Self.result(of: response, to: request, isMaybeDone: isMaybeDone)
        }
        isMaybeDone = isMaybeDone || response.status >= 500
        wait = pause
      } catch let failure as NoAnswer {
        guard let pause = policy.wait(after: .noAnswer, attempt: attempt, isRepeatable: isRepeatable) else {
          throw KithFailure.unreachable(failure.reason)
        }
        isMaybeDone = true
        wait = pause
      }
      try await policy.sleep(wait)
      attempt += 1
    }
  }

  /// What an earlier attempt without an answer has deleted is not there any more, which is what was asked for.
  private static func result(
    of response: HTTPResponse, to request: HTTPRequest, isMaybeDone: Bool
  ) -> HTTPResponse {
    guard isMaybeDone, request.method == "DELETE", [404, 410].contains(response.status) else { return response }
    return HTTPResponse(head: .init(status: 204), body: Data())
  }
}
