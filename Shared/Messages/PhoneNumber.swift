import Foundation
import Wire

/// A person's telephone number, in the one form of E.164 whatever way it was typed: `+`, country code, number.
///
/// In text that is made of it, a log line for instance, it is masked.
package struct PhoneNumber: Sendable, Hashable {
  /// `+4915112345678`.
  package let text: String
  /// The country's: `49`.
  package let callingCode: String

  /// Takes what people type: blanks, dashes, dots, slashes, parentheses, `00` for `+`, and a `0` before the area that is
  /// dialled within the country only. nil without a country code, for one that no country has, or a wrong length.
  package init?(_ typed: String) {
    guard let digits = Typed.digits(of: typed), let code = CallingCodes.code(of: digits) else { return nil }
    var national = digits.dropFirst(code.utf8.count)
    if national.first == "0", CallingCodes.dialsZeroFirst(code) { national = national.dropFirst() }
    guard CallingCodes.isSound(national, in: code) else { return nil }
    text = "+\(code)\(national)"
    callingCode = code
  }

  /// - Throws: the validation failure that names `field`.
  package static func required(_ typed: String, field: String) throws(Failure) -> PhoneNumber {
    guard let number = PhoneNumber(typed) else {
      throw .invalid(.init(field, "must be a phone number with its country code, such as +4915112345678"))
    }
    return number
  }

  /// What shares a budget for messages: `+49`. Where several countries share a code, those that are not its main ones
  /// stand for themselves: `+1876`, `+77`.
  package var prefix: String {
    let digits = text.dropFirst()
    switch callingCode {
    case "1" where CallingCodes.islandAreas.contains(digits.dropFirst().prefix(3)): return "+\(digits.prefix(4))"
    case "7" where ["6", "7"].contains(digits.dropFirst().prefix(1)): return "+77"
    default: return "+" + callingCode
    }
  }

  /// For logs: the country and the last two digits.
  package var masked: String { "+\(callingCode)***\(text.suffix(2))" }
}

extension PhoneNumber: CustomStringConvertible {
  package var description: String { masked }
}

/// What people put between digits, and before them.
private enum Typed {
  private static let lengthMax = 64
  private static let between: Set<Character> = [" ", "\u{A0}", "\u{202F}", "\u{2009}", "-", ".", "(", ")", "/", "\t"]

  /// The digits after `+` or `00`; nil when neither is there, or when there is anything else.
  static func digits(of typed: String) -> Substring? {
    guard typed.utf8.count <= lengthMax else { return nil }
    // Contacts carry invisible marks of direction, and dashes of every length.
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
    // "+44 (0)20 …" says in one line what is dialled from abroad and within the country.
    if let zero = plain.range(of: "(0)") { plain.removeSubrange(zero) }
    let international = plain.hasPrefix("(+") ? plain.dropFirst() : plain[...]
    let hasPlus = international.hasPrefix("+")
    let digits = international.dropFirst(hasPlus ? 1 : 0).filter { !between.contains($0) }
    guard digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    if hasPlus { return digits[...] }
    return digits.hasPrefix("00") ? digits.dropFirst(2) : nil
  }
}
