import Foundation

/// A phone number in E.164 format, independent of how it was typed: `+`, country code, number.
///
/// The rules are those of the server, so that a number that is one here is one there. The description is masked, so that
/// no log line has the number.
public struct PhoneNumber: Sendable, Hashable {
  /// `+4915112345678`.
  public let text: String
  /// The country code: `49`.
  public let callingCode: String

  /// Parses a number with spaces, dashes, dots, slashes, parentheses, `00` for `+`, and a trunk prefix `0`, which is
  /// dialled within the country only. nil without a country code, for a code that no country has, or for a wrong
  /// length.
  public init?(_ typed: String) {
    guard let digits = DigitParser.digits(of: typed), let code = CallingCodes.code(of: digits) else { return nil }
    var national = digits.dropFirst(code.utf8.count)
    if national.first == "0", CallingCodes.hasTrunkZero(code) { national = national.dropFirst() }
    guard CallingCodes.isValid(national, in: code) else { return nil }
    text = "+\(code)\(national)"
    callingCode = code
  }

  /// Parses a number as it stands in an address book, where those of the own country have no country code.
  ///
  /// - Parameter callingCode: of the own country, such as `49`.
  public init?(_ typed: String, inCountry callingCode: String) {
    if let number = PhoneNumber(typed) {
      self = number
      return
    }
    guard let first = typed.unicodeScalars.first(where: { $0.properties.numericType == .decimal || $0 == "+" }),
      first != "+", let number = PhoneNumber("+\(callingCode)" + typed.drop { !$0.isNumber })
    else { return nil }
    self = number
  }

  /// For logs: the country and the last two digits.
  public var masked: String { "+\(callingCode)***\(text.suffix(2))" }
}

extension PhoneNumber: CustomStringConvertible {
  public var description: String { masked }
}

/// Removes the separators of a typed number and the prefix before its country code.
private enum DigitParser {
  private static let lengthMax = 64
  private static let separators: Set<Character> = [
    " ", "\u{A0}", "\u{202F}", "\u{2009}", "-", ".", "(", ")", "/", "\t",
  ]

  /// The digits after `+` or `00`; nil without either, or when there are other characters.
  static func digits(of typed: String) -> Substring? {
    guard typed.utf8.count <= lengthMax else { return nil }
    // Numbers copied from contacts have invisible direction marks and various dashes.
    let visible = typed.unicodeScalars.filter { $0.properties.generalCategory != .format }
    var plain = ""
    for scalar in visible {
      switch scalar.properties.generalCategory {
      case .decimalNumber: plain += scalar.properties.numericValue.flatMap { Int(exactly: $0) }.map(String.init) ?? "?"
      case .dashPunctuation: plain += "-"
      default: plain += scalar == "\u{FF0B}" ? "+" : String(scalar)
      }
    }
    plain = plain.trimmingCharacters(in: .whitespacesAndNewlines)
    // "+44 (0)20 …" contains the trunk prefix, which is not dialled from abroad.
    if let zero = plain.range(of: "(0)") { plain.removeSubrange(zero) }
    let international = plain.hasPrefix("(+") ? plain.dropFirst() : plain[...]
    let hasPlus = international.hasPrefix("+")
    let digits = international.dropFirst(hasPlus ? 1 : 0).filter { !separators.contains($0) }
    guard digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    if hasPlus { return digits[...] }
    return digits.hasPrefix("00") ? digits.dropFirst(2) : nil
  }
}
