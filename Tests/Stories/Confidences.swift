import Foundation
import Support
import Synchronization

/// Everything that was said in confidence during a story, to be looked for where it must not be.
final class Confidences: Sendable {
  private let kept = Mutex<Set<String>>([])

  @discardableResult
  func keep(_ text: String) -> String {
    if !text.isEmpty { kept.withLock { _ = $0.insert(text) } }
    return text
  }

  /// Every token of an answer, and the answer.
  @discardableResult
  func keep(tokensOf reply: Browser.Reply) -> Browser.Reply {
    for name in ["access_token", "token", "refresh_token"] { keep(reply.string(name)) }
    return reply
  }

  var count: Int { kept.withLock { $0.count } }

  /// Those that stand in a log, in whatever form.
  func found(in log: String) -> [String] {
    let log = log.lowercased()
    return kept.withLock { Array($0) }.filter { secret in Self.forms(secret).contains { Self.stands($0, in: log) } }
  }

  private static func forms(_ secret: String) -> Set<String> {
    var forms: Set = [secret, secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? secret]
    // A number without its plus, an address without its domain, a token without its head.
    if secret.hasPrefix("+") { forms.insert(String(secret.dropFirst())) }
    if secret.contains("@") { forms.insert(secret.components(separatedBy: "@")[0]) }
    let parts = secret.components(separatedBy: ".")
    if parts.count == 3, parts[0].hasPrefix("eyJ") { forms.formUnion(parts.dropFirst()) }
    return Set(forms.map { $0.lowercased() })
  }

  /// A code is six digits, which may be part of a longer number by chance.
  private static func stands(_ form: String, in log: String) -> Bool {
    var rest = log[...]
    while let range = rest.range(of: form) {
      let isAlone = ![log[..<range.lowerBound].last, log[range.upperBound...].first].contains { $0?.isNumber == true }
      if isAlone || !form.allSatisfy(\.isNumber) { return true }
      rest = log[range.upperBound...]
    }
    return false
  }
}
