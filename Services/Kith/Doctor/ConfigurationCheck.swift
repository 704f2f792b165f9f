import Foundation
import Logging
import Web

/// Whether the stack starts with these variables, and what is off because a variable is not set.
struct ConfigurationCheck {
  let settings: Settings

  func findings() async -> [Finding] {
    let part = "configuration"
    if let reason = await startFailure() {
      return [.problem(part, reason, mend: ConfigurationMend.mend(for: reason))]
    }
    return [.ok(part, "every variable is valid")] + missing()
  }

  /// Builds the stack on empty databases in a folder of their own, as variables are read there. Nothing is started.
  private func startFailure() async -> String? {
    let folder = FileManager.default.temporaryDirectory.appending(path: "kith-doctor-\(UUID())").path
    // `try?`: a leftover folder does no harm.
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var overrides = ["DATA_DIR": folder, "DATABASE_URL": "\(folder)/", "PORT": "0"]
    for service in ServiceName.bundled { overrides["\(service.variablePrefix)_PORT"] = "0" }
    if !settings.string("PHOTO_STORAGE", default: "").hasPrefix("s3:") { overrides["PHOTO_STORAGE"] = "" }
    // In development kith makes it up, and prints it.
    if settings.string("ADMIN_API_KEY") == nil { overrides["ADMIN_API_KEY"] = "" }
    var logger = Logger(label: "doctor")
    logger.logLevel = .critical
    do {
      _ = try await buildKith(Dependencies(settings.overlaid(overrides), logger: logger))
      return nil
    } catch { return String(describing: error).replacing("\n", with: " ") }
  }

  /// What people miss when it is off.
  private func missing() -> [Finding] {
    // `try?`: a wrong stage is a start failure, which has been found.
    let isProduction = (try? settings.stage()) == .production
    let off: [(variable: String, text: String, mend: String)] = [
      ("APPLE_BUNDLE_ID", "nobody can sign in with Apple", "set it to the bundle id of your app"),
      ("SMTP_URL", isProduction ? "no mail is sent" : "mails are logged, not sent", "set it, and MAIL_FROM"),
      (
        "TWILIO_ACCOUNT_SID", isProduction ? "no text message is sent" : "text messages are logged, not sent",
        "set it, TWILIO_AUTH_TOKEN and TWILIO_PHONE_NUMBER"
      ),
    ]
    var findings = off.filter { settings.nonempty($0.variable) == nil }
      .map { Finding.warning($0.variable, "is not set: \($0.text)", mend: "\($0.mend), unless you do without it") }
    if isProduction, !settings.string("PUBLIC_URL", default: "").hasPrefix("https://") {
      findings.append(
        .warning(
          "PUBLIC_URL", "is not an https URL: phones refuse links without TLS",
          mend: "set it to where apps reach the gateway, as https://api.example.com"))
    }
    return findings
  }
}
