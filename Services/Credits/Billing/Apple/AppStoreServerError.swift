import Foundation
import Outbox
import Wire

/// An error response of the App Store Server API.
struct AppStoreServerError: RetryableFailure, Hashable {
  private let status: Int
  /// Apple's `errorCode`; nil where the body is empty, as for a token that is not accepted.
  private let code: Int?
  let retryAfter: Duration?

  /// The longest wait that we accept from the App Store.
  private static let waitMax = Duration.seconds(3600)

  /// - Parameter retryAfter: the header `Retry-After`, in which the App Store writes a time in milliseconds since 1970.
  init(status: Int, body: Data, retryAfter: String?, at now: Date) {
    struct Body: Decodable { let errorCode: Int? }
    self.status = status
    // `try?`: the body of a 401 is empty, and a proxy answers in another format.
    code = (try? JSONDecoder().decode(Body.self, from: body))?.errorCode
    self.retryAfter = retryAfter.flatMap(Double.init).map { milliseconds in
      let wait = Duration.seconds(min(max(milliseconds / 1000 - now.timeIntervalSince1970, 1), 3600))
      return min(wait, Self.waitMax)
    }
  }

  /// 429, a fault of the App Store, or one of the codes that it documents as retryable.
  var isRetryable: Bool {
    status == 429 || status >= 500 || code.map(Self.retryableCodes.contains) ?? false || isUnauthorized
  }

  /// The App Store does not accept our key, issuer or bundle id. To be retried: a new key takes effect after a while, and
  /// somebody has to be able to replace it.
  var isUnauthorized: Bool { status == 401 }

  /// The transaction is of the other environment, or not at all.
  var isUnknownTransaction: Bool { code == 4_040_010 }

  /// Account, app and original transaction "not found, try again", and the general fault.
  private static let retryableCodes: Set = [4_040_002, 4_040_004, 4_040_006, 5_000_001]

  var description: String { "App Store: \(status) \(code.map(String.init) ?? "without a code")" }
}
