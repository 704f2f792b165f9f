import Foundation

/// What a call throws, beside `CancellationError`.
public enum KithFailure: Error, Sendable, Equatable {
  /// The server answered with an error.
  case refused(Refusal)
  /// There was no answer, also after repeating what is safe to repeat. Show that the app is offline, and try later.
  case unreachable(String)
  /// Nobody is signed in, or the session has ended: show the sign-in screen.
  case signedOut
  /// The token store could not be read or written, for example because the device has not been unlocked since it
  /// started. Nobody was signed out.
  case tokenStoreUnavailable(String)
  /// The answer was not what this version of the library understands.
  case undecodable(String)
  /// A rule that the library checks before it sends anything.
  case invalid(String)

  /// The code of a refusal.
  public var code: FailureCode? {
    if case .refused(let refusal) = self { refusal.code } else { nil }
  }
}

extension KithFailure: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .refused(let refusal): refusal.message
    case .unreachable: "The server cannot be reached."
    case .signedOut: "Sign in to continue."
    case .tokenStoreUnavailable: "The device is locked."
    case .undecodable: "The answer of the server could not be read."
    case .invalid(let message): message
    }
  }
}

/// An error response of the server.
public struct Refusal: Sendable, Equatable {
  /// A field of the request that is not valid.
  public struct Field: Sendable, Equatable, Decodable {
    /// The name on the wire.
    public let field: String
    public let message: String
  }

  public let status: Int
  public let code: FailureCode
  /// For people; contains no personal data.
  public let message: String
  public let fields: [Field]
  /// Names the request in the server's log.
  public let requestID: String?
  /// When the server says when to try again.
  public let retryAfterSeconds: Double?
}

extension Refusal {
  private struct Body: Decodable {
    let code: String?
    let message: String?
    let detail: String?
    let errors: [Field]?
  }

  init(_ response: HTTPResponse, now: Date = Date()) {
    // `try?`: a proxy in between may answer without a problem document.
    let body = try? JSONDecoder().decode(Body.self, from: response.body)
    status = response.status
    code = FailureCode(body?.code ?? "http_\(response.status)")
    message = body?.message ?? body?.detail ?? "HTTP \(response.status)"
    fields = body?.errors ?? []
    requestID = response.head["X-Request-ID"]
    retryAfterSeconds = response.head.retryAfterSeconds(now: now)
  }
}
