import Foundation
import Support
import Synchronization

/// The secrets of a test run, to search the log for.
final class SecretRecorder: Sendable {
  private let secrets = Mutex<Set<String>>([])

  @discardableResult
  func record(_ text: String) -> String {
    if !text.isEmpty { secrets.withLock { _ = $0.insert(text) } }
    return text
  }

  /// Records every token in a response and returns the response.
  @discardableResult
  func record(tokensOf reply: Browser.Reply) -> Browser.Reply {
    for name in ["access_token", "token", "refresh_token"] { record(reply.string(name)) }
    return reply
  }

  var count: Int { secrets.withLock { $0.count } }

  /// The recorded secrets that a log contains in any form.
  func found(in log: String) -> [String] {
    let log = log.lowercased()
    return secrets.withLock { Array($0) }.filter { secret in Self.forms(secret).contains { Self.occurs($0, in: log) } }
  }

  private static func forms(_ secret: String) -> Set<String> {
    var forms: Set = [secret, secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? secret]
    // A number without its plus, an address without its domain, a token without its header.
    if secret.hasPrefix("+") { forms.insert(String(secret.dropFirst())) }
    if secret.contains("@") { forms.insert(secret.components(separatedBy: "@")[0]) }
    let parts = secret.components(separatedBy: ".")
    if parts.count == 3, parts[0].hasPrefix("eyJ") { forms.formUnion(parts.dropFirst()) }
    return Set(forms.map { $0.lowercased() })
  }

  /// Ignores six-digit codes within longer numbers, where they occur by chance.
  private static func occurs(_ form: String, in log: String) -> Bool {
    var rest = log[...]
    while let range = rest.range(of: form) {
      let isAlone = ![log[..<range.lowerBound].last, log[range.upperBound...].first].contains { $0?.isNumber == true }
      if isAlone || !form.allSatisfy(\.isNumber) { return true }
      rest = log[range.upperBound...]
    }
    return false
  }
}
