import Foundation
import Web

/// Whether the outside services that are configured can be reached, and whether the clock agrees with theirs.
struct ProviderCheck {
  let settings: Settings
  let now: @Sendable () -> Date

  /// An outside service, and the variable that says where it is.
  private struct Provider {
    let name: String
    /// Set where it is used.
    let condition: String
    let variable: String
    let fallback: String

    static let all = [
      Provider("Apple", "APPLE_BUNDLE_ID", "APPLE_JWKS_URL", "https://appleid.apple.com/auth/keys"),
      Provider("App Store", "APPLE_IAP_KEY_ID", "APPLE_SERVER_API_URL", "https://api.storekit.apple.com"),
      Provider("APNs", "APNS_KEY_ID", "APNS_URL", "https://api.push.apple.com"),
      Provider("Twilio", "TWILIO_ACCOUNT_SID", "TWILIO_BASE_URL", "https://api.twilio.com"),
      Provider("Stripe", "STRIPE_SECRET_KEY", "STRIPE_BASE_URL", "https://api.stripe.com"),
      Provider("Google", "GOOGLE_API_KEY", "GOOGLE_BASE_URL", "https://generativelanguage.googleapis.com"),
      Provider("OpenRouter", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", "https://openrouter.ai/api/v1"),
    ]

    init(_ name: String, _ condition: String, _ variable: String, _ fallback: String) {
      (self.name, self.condition, self.variable, self.fallback) = (name, condition, variable, fallback)
    }
  }

  func findings() async -> [Finding] {
    let configured = Provider.all.filter { settings.nonempty($0.condition) != nil }
    async let mail = mailFinding()
    let answers = await withTaskGroup(of: (Int, Result<HTTPProbe.Reply, HTTPProbe.Failure>).self) { group in
      for (index, provider) in configured.enumerated() { group.addTask { (index, await answer(of: provider)) } }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    let asked = configured.enumerated().compactMap { index, provider in answers[index].map { (provider, $0) } }
    let clock = asked.lazy.compactMap { provider, answer in clockFinding(provider, answer) }.first
    return [clock ?? .ok("clock", "is not compared, as no outside service has said the time")]
      + asked.map { provider, answer in finding(provider, answer) } + [await mail].compactMap(\.self)
  }

  private func url(of provider: Provider) -> String { settings.string(provider.variable, default: provider.fallback) }

  private func answer(of provider: Provider) async -> Result<HTTPProbe.Reply, HTTPProbe.Failure> {
    // As in the services: only push notifications trust these.
    let extraRoots = provider.name == "APNs" ? settings.nonempty("TLS_EXTRA_ROOTS") : nil
    return await HTTPProbe.get(url(of: provider), trusting: extraRoots)
  }

  /// Apple's identity tokens and Stripe's webhooks are refused when the clock is wrong by some minutes. nil for an answer
  /// without a time.
  private func clockFinding(
    _ provider: Provider, _ answer: Result<HTTPProbe.Reply, HTTPProbe.Failure>
  ) -> Finding? {
    // `try?`: who does not answer says no time.
    guard let date = (try? answer.get())?.date, let theirs = Self.time(date) else { return nil }
    let seconds = Int(now().timeIntervalSince(theirs).rounded())
    guard abs(seconds) > 30 else { return .ok("clock", "agrees with that of \(provider.name)") }
    let text = "is \(abs(seconds)) seconds \(seconds > 0 ? "ahead of" : "behind") that of \(provider.name)"
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

  private func finding(_ provider: Provider, _ answer: Result<HTTPProbe.Reply, HTTPProbe.Failure>) -> Finding {
    let url = url(of: provider)
    switch answer {
    // Without a key they refuse the request, and that is an answer; Apple's keys are public.
    case .success(let reply) where provider.name == "Apple" ? reply.status == 200 : reply.status < 500:
      return .ok(provider.name, "\(url) answers")
    case .success(let reply):
      return .problem(
        provider.name, "\(url) answered \(reply.status)",
        mend: settings.nonempty(provider.variable) == nil
          ? "wait, and see what \(provider.name) says about its state" : "check \(provider.variable)")
    case .failure(let failure):
      return .problem(
        provider.name, "\(url) cannot be reached: \(failure.text)",
        mend: failure.mend(variable: settings.nonempty(provider.variable) == nil ? nil : provider.variable))
    }
  }

  private func mailFinding() async -> Finding? {
    guard let text = settings.nonempty("SMTP_URL"), let url = URLComponents(string: text), let host = url.host else {
      return nil
    }
    let port = url.port ?? (url.scheme == "smtps" ? 465 : 587)
    guard let failure = await HTTPProbe.connect(host: host, port: port) else {
      return .ok("SMTP", "\(host):\(port) accepts connections")
    }
    return .problem(
      "SMTP", "\(host):\(port) cannot be reached: \(failure.text)",
      mend: "check SMTP_URL; many hosters block port 25 and sometimes 465 and 587")
  }
}

extension HTTPProbe.Failure {
  /// - Parameter variable: the one that has the URL, if it is set.
  fileprivate func mend(variable: String?) -> String {
    let prefix = variable.map { "check \($0), and " } ?? "check "
    switch self {
    case .refused, .other: return prefix + "the firewall and the proxy for outgoing HTTPS"
    case .unknownName: return prefix + "DNS on this machine"
    case .timeout: return prefix + "the firewall for outgoing HTTPS, which may drop packets"
    case .untrustedCertificate:
      return prefix + "the package ca-certificates; for a proxy with an authority of its own see TLS_EXTRA_ROOTS"
    }
  }
}
