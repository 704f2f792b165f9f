import Foundation
import Wire

/// A password in the form that is hashed, independent of the keyboard that it was typed on: the PRECIS OpaqueString
/// profile (RFC 8265 §4.2), that is NFC with all kinds of spaces mapped to U+0020, case preserved.
struct Password: Sendable {
  static let bytesMin = 8
  static let bytesMax = 256

  let bytes: SecretBytes

  /// A password to be compared. nil for text that no account can have as its password: empty, too long, or with control
  /// characters.
  init?(typed: String) {
    guard let text = Self.normalized(typed) else { return nil }
    bytes = SecretBytes(text.utf8)
  }

  /// A new password.
  ///
  /// - Throws: the validation failure that names `field`.
  init(chosen typed: String, field: String, forbidden: ForbiddenPasswords?) throws(Failure) {
    guard let text = Self.normalized(typed), text.utf8.count >= Self.bytesMin else {
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

  /// The text after PRECIS OpaqueString; nil when it is empty, too long, or has control characters.
  static func normalized(_ typed: String) -> String? {
    // Text that is far too long is not normalised at all.
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
