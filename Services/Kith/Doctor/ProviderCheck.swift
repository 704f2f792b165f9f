import Foundation
import Web

/// Whether the outside services that are configured can be reached, and whether the clock agrees with theirs.
struct ProviderCheck {
  let settings: Settings
  let now: @Sendable () -> Date

  func findings() async -> [Finding] {
    async let apple = appleFindings()
    async let others = withTaskGroup(of: Finding.self) { group in
      for (name, url) in configured { group.addTask { await finding(name, url) } }
      return await group.reduce(into: [Finding]()) { $0.append($1) }.sorted { $0.part < $1.part }
    }
    async let mail = mailFinding()
    return await apple + others + [mail].compactMap(\.self)
  }

  /// Name and URL of the providers that variables configure.
  private var configured: [(String, String)] {
    let providers: [(name: String, condition: String, variable: String, url: String)] = [
      ("Twilio", "TWILIO_ACCOUNT_SID", "TWILIO_BASE_URL", "https://api.twilio.com"),
      ("Stripe", "STRIPE_SECRET_KEY", "STRIPE_BASE_URL", "https://api.stripe.com"),
      ("APNs", "APNS_KEY_ID", "APNS_URL", "https://api.push.apple.com"),
    ]
    return providers.filter { settings.nonempty($0.condition) != nil }
      .map { ($0.name, settings.string($0.variable, default: $0.url)) }
  }

  private func appleFindings() async -> [Finding] {
    guard settings.nonempty("APPLE_BUNDLE_ID") != nil else { return [] }
    let url = settings.string("APPLE_JWKS_URL", default: "https://appleid.apple.com/auth/keys")
    let answer = await HTTPProbe.get(url)
    guard case .answered(200, let date) = answer else { return [unreachable("Apple", url, answer)] }
    return [.ok("Apple", "\(url) answers")] + [clockFinding(date)].compactMap(\.self)
  }

  /// Tokens of Apple and of Stripe's webhooks are refused when the clock is wrong by some minutes.
  private func clockFinding(_ date: String?) -> Finding? {
    guard let date, let theirs = Self.time(date) else { return nil }
    let seconds = Int(now().timeIntervalSince(theirs).rounded())
    guard abs(seconds) > 30 else { return .ok("clock", "agrees with Apple's") }
    let text = "is \(abs(seconds)) seconds \(seconds > 0 ? "ahead" : "behind")"
    let mend = "synchronize it: `timedatectl set-ntp true`"
    return abs(seconds) > 120 ? .problem("clock", text, mend: mend) : .warning("clock", text, mend: mend)
  }

  /// The time of a `Date` header (RFC 9110 §5.6.7).
  private static func time(_ text: String) -> Date? {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(secondsFromGMT: 0)
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return format.date(from: text)
  }

  private func finding(_ name: String, _ url: String) async -> Finding {
    let answer = await HTTPProbe.get(url)
    // Without a path and a key they refuse the request, and that is an answer.
    guard case .answered(let status, _) = answer, status < 500 else { return unreachable(name, url, answer) }
    return .ok(name, "\(url) answers")
  }

  private func mailFinding() async -> Finding? {
    guard let text = settings.nonempty("SMTP_URL"), let url = URLComponents(string: text), let host = url.host else {
      return nil
    }
    let port = url.port ?? (url.scheme == "smtps" ? 465 : 587)
    guard let reason = await HTTPProbe.connect(host: host, port: port) else {
      return .ok("SMTP", "\(host):\(port) accepts connections")
    }
    return .problem(
      "SMTP", "\(host):\(port) cannot be reached: \(reason)",
      mend: "check SMTP_URL; many hosters block port 25 and sometimes 465 and 587")
  }

  private func unreachable(_ name: String, _ url: String, _ answer: HTTPProbe.Answer) -> Finding {
    let reason =
      switch answer {
      case .answered(let status, _): "it answered \(status)"
      case .failed(let reason): reason
      }
    return .problem(
      name, "\(url) cannot be reached: \(reason)", mend: "check the network, DNS, and the firewall for outgoing HTTPS")
  }
}
