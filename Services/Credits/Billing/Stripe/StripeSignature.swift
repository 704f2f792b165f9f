import Crypto
import Foundation
import Tokens

/// The signature of an event in the header `Stripe-Signature`: `t=1735689600,v1=hex,v1=hex,v0=hex`.
struct StripeSignature: Sendable {
  /// Two while one is being replaced.
  let secrets: [String]

  /// An older event is refused: it may have been recorded and sent again.
  static let toleranceSeconds = 300
  private static let headerBytesMax = 4096

  /// Whether one of the signatures `v1` is the HMAC-SHA256 of the timestamp and the body under one of the secrets, and
  /// the timestamp is not too old. Other schemes, such as `v0` of test events, count for nothing.
  func isValid(_ header: String, of body: Data, at now: Date) -> Bool {
    guard let (timestamp, signatures) = Self.parse(header),
      timestamp >= Int(now.timeIntervalSince1970) - Self.toleranceSeconds
    else { return false }
    var isValid = false
    for secret in secrets {
      let expected = Array(Self.signature(of: body, at: timestamp, secret: secret).utf8)
      // All are compared, whichever matches.
      for signature in signatures where ConstantTime.areEqual(expected, Array(signature.utf8)) { isValid = true }
    }
    return isValid
  }

  static func signature(of body: Data, at timestamp: Int, secret: String) -> String {
    var mac = HMAC<SHA256>(key: SymmetricKey(data: Data(secret.utf8)))
    mac.update(data: Data("\(timestamp).".utf8))
    mac.update(data: body)
    return mac.finalize().map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
  }

  /// nil for a header without a timestamp or without a signature of the scheme `v1`.
  private static func parse(_ header: String) -> (timestamp: Int, signatures: [Substring])? {
    guard header.utf8.count <= headerBytesMax else { return nil }
    var timestamp: Int?
    var signatures: [Substring] = []
    for item in header.split(separator: ",") {
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { return nil }
      switch parts[0] {
      case "t" where timestamp == nil: timestamp = parts[1].allSatisfy(\.isASCII) ? Int(parts[1]) : nil
      case "v1": signatures.append(parts[1])
      default: break
      }
    }
    guard let timestamp, !signatures.isEmpty else { return nil }
    return (timestamp, signatures)
  }
}
