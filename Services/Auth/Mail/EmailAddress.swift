import Foundation
import Wire

/// An e-mail address as far as it can be judged without sending to it: what a browser's `<input type=email>` takes (WHATWG
/// HTML §4.10.5.1.5), within the 254 bytes that RFC 5321 leaves, 64 of them before the `@`.
///
/// In text that is made of it, a log line for instance, it is masked.
struct EmailAddress: Sendable, Hashable {
  /// As it was typed, without the blanks around it.
  let text: String
  /// The form by which addresses are compared and written to: lower case, the domain in ASCII.
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

  /// For logs: the first letter, and where the domain ends.
  var masked: String {
    let ending = domain.split(separator: ".").dropFirst().last.map { ".\($0)" } ?? ""
    return "\(canonical.prefix(1))***@***\(ending)"
  }

  /// What comes after the `@`, in lower case and ASCII.
  var domain: String { String(canonical.drop { $0 != "@" }.dropFirst()) }

  private static func isAtom(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: ".!#$%&'*+/=?^_`{|}~-".utf8.contains(byte)
    }
  }

  /// In lower case; names beyond ASCII as `xn--…` (UTS #46). nil when a label is not one of the domain name system's.
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
