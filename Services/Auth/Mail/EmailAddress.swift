import Foundation
import Wire

/// A syntactically valid e-mail address: what a browser's `<input type=email>` accepts (WHATWG HTML §4.10.5.1.5), at
/// most 254 bytes, of which 64 before the `@` (RFC 5321).
///
/// Its description is masked, so that no log line has the address.
struct EmailAddress: Sendable, Hashable {
  /// The address as it was typed, without surrounding whitespace.
  let text: String
  /// The form that is used for comparing and sending: lower case, the domain in ASCII.
  let canonical: String

  init?(_ typed: String) {
    let text = typed.trimmingCharacters(in: .whitespacesAndNewlines)
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard text.utf8.count <= 254, parts.count == 2, (1...64).contains(parts[0].count),
      parts[0].allSatisfy(Self.isAtom), let domain = Self.asciiDomain(String(parts[1]) ?? "")
    else { return nil }
    let canonical = String(decoding: parts[0], as: UTF8.self).lowercased() + "@" + domain
    guard canonical.utf8.count <= 254 else { return nil }
    self.text = text
    self.canonical = canonical
  }

  /// - Throws: the validation failure that names `field`.
  static func required(_ raw: String, field: String) throws(Failure) -> EmailAddress {
    guard let email = EmailAddress(raw) else { throw .invalid(.init(field, "must be an e-mail address")) }
    return email
  }

  /// For logs: the first character and the top-level domain.
  var masked: String {
    let ending = domain.split(separator: ".").dropFirst().last.map { ".\($0)" } ?? ""
    return "\(canonical.prefix(1))***@***\(ending)"
  }

  /// The part after the `@`, in lower case and ASCII.
  var domain: String { String(canonical.drop { $0 != "@" }.dropFirst()) }

  private static func isAtom(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: ".!#$%&'*+/=?^_`{|}~-".utf8.contains(byte)
    }
  }

  /// The domain in lower case, international names as `xn--…` (UTS #46). nil when a label is not valid in the DNS.
  private static func asciiDomain(_ typed: String) -> String? {
    var domain = typed.lowercased()
    if !domain.utf8.allSatisfy({ $0 < 0x80 }) {
      guard domain.unicodeScalars.allSatisfy(isInternational) else { return nil }
      var components = URLComponents()
      components.host = domain
      domain = components.encodedHost ?? ""
    }
    let labels = domain.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return labels.allSatisfy(isLabel) ? domain : nil
  }

  private static func isInternational(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark, .decimalNumber: true
    default: scalar == "-" || scalar == "."
    }
  }

  private static func isLabel(_ label: Substring.UTF8View) -> Bool {
    let hyphen = UInt8(ascii: "-")
    return (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
      && label.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), hyphen: true
        default: false
        }
      }
  }
}

extension EmailAddress: CustomStringConvertible {
  var description: String { masked }
}
