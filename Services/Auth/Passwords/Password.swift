import Foundation
import Wire

/// A password as it is compared, whatever keyboard it was typed on: PRECIS' OpaqueString (RFC 8265 §4.2). That is NFC,
/// with every kind of blank a plain one, upper and lower case as they are.
struct Password: Sendable {
  static let bytesMin = 8
  static let bytesMax = 256

  let bytes: SecretBytes

  /// One that somebody claims to be theirs. nil for what can be nobody's: empty, too long, or with control characters.
  init?(typed: String) {
    guard let text = Self.prepared(typed) else { return nil }
    bytes = SecretBytes(text.utf8)
  }

  /// One that somebody chooses.
  ///
  /// - Throws: the validation failure that names `field`.
  init(chosen typed: String, field: String, forbidden: ForbiddenPasswords?) throws(Failure) {
    guard let text = Self.prepared(typed), text.utf8.count >= Self.bytesMin else {
      let isLong = (Self.bytesMin...Self.bytesMax).contains(typed.utf8.count)
      throw Self.weak(field, Self.rule, because: isLong ? "characters" : "length")
    }
    if let forbidden, forbidden.contains(text) {
      throw Self.weak(field, "is too common; choose another", because: "pwned")
    }
    bytes = SecretBytes(text.utf8)
  }

  private static func weak(_ field: String, _ message: String, because reason: String) -> Failure {
    var failure = Failure.invalid(.init(field, message))
    failure.reasons = [reason]
    return failure
  }

  private static let rule =
    "must have \(bytesMin) to \(bytesMax) bytes, without control characters"

  static func prepared(_ typed: String) -> String? {
    // What is far too long is not worth normalising.
    guard typed.utf8.count <= bytesMax * 4 else { return nil }
    var plain = String.UnicodeScalarView()
    for scalar in typed.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control: return nil
      case .spaceSeparator: plain.append(" ")
      default: plain.append(scalar)
      }
    }
    let text = String(plain).precomposedStringWithCanonicalMapping
    return (1...bytesMax).contains(text.utf8.count) ? text : nil
  }
}
