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

  /// Of HTTP. 200 for an answer that has failed after its beginning.
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
  /// A problem document, whose members are also in `error` where an API has its errors there.
  private struct Body: Decodable {
    struct Detailed: Decodable {
      private enum Key: CodingKey { case code, message, details }
      var code: String?
      var message: String?
      var details: Details?

      /// `error` may also be a text.
      init(from decoder: any Decoder) throws {
        guard let members = try? decoder.container(keyedBy: Key.self) else { return }
        code = try? members.decode(String.self, forKey: .code)
        message = try? members.decode(String.self, forKey: .message)
        details = try? members.decode(Details.self, forKey: .details)
      }
    }

    let code: String?
    let message: String?
    let detail: String?
    let errors: [Field]?
    let error: Detailed?
  }

  /// The fields of `error.details`, where it has an object. It may also be a text.
  private struct Details: Decodable {
    var fields: [Field] = []

    init(from decoder: any Decoder) throws {
      guard let all = try? decoder.singleValueContainer().decode([String: [String]].self) else { return }
      fields = all.sorted { $0.key < $1.key }.flatMap { name, messages in
        messages.map { Field(field: name, message: $0) }
      }
    }
  }

  /// Whether the server has named the error, and so has answered itself.
  var hasCode: Bool { code.text != "http_\(status)" }

  init(status: Int, code: FailureCode, message: String, retryAfterSeconds: Double? = nil) {
    self.status = status
    self.code = code
    self.message = message
    fields = []
    requestID = nil
    self.retryAfterSeconds = retryAfterSeconds
  }

  /// The code outside is the more precise one, unless it is that of a database.
  private static func code(_ outside: String?, _ inside: String?, status: Int) -> FailureCode {
    if let known = outside.flatMap(KnownFailureCode.init) { return .known(known) }
    return FailureCode(inside ?? outside ?? "http_\(status)")
  }

  init(_ response: HTTPResponse, now: Date = Date()) {
    // `try?`: a proxy in between may answer without a problem document.
    let body = try? JSONDecoder().decode(Body.self, from: response.body)
    status = response.status
    code = Self.code(body?.code, body?.error?.code, status: response.status)
    message = body?.message ?? body?.detail ?? body?.error?.message ?? "HTTP \(response.status)"
    fields = body?.errors ?? body?.error?.details?.fields ?? []
    requestID = response.head["X-Request-ID"]
    retryAfterSeconds = response.head.retryAfterSeconds(now: now)
  }
}
