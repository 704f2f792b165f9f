import Database
import Foundation
import Support
import Testing
import Tokens

/// Secrets and personal data are never logged, whatever users do and whatever fails.
@Suite struct LogSecretTests {
  @Test(arguments: engines, ["debug", "info"])
  func nothingSaidInConfidenceIsLogged(engine: Engine, level: String) async throws {
    try await withTwilio { twilio in
      try await withMailServer(.none) { mail in
        try await withKeyServer { keys in
          try await withAppleServer { apple in
            try await withTestDatabase(engine) { testDatabase in
              let kith = try await KithProcess.start(
                in: testDatabase, Self.settings(level, twilio, mail, keys, apple))
              let scenario = SecretLeakScenario(kith: kith, twilio: twilio, mail: mail, keys: keys, apple: apple)
              try await scenario.run()
              #expect(await kith.stop() == 0)
              check(kith.child.printed(), scenario, level)
            }
          }
        }
      }
    }
  }

  private static func settings(
    _ level: String, _ twilio: TwilioServer, _ mail: MailServer, _ keys: KeyServer, _ apple: AppleServer
  ) -> [String: String] {
    var settings = twilio.settings.merging(mail.settings) { $1 }.merging(apple.settings) { $1 }
    for name in ["", "_USER", "_SIGN_IN", "_REFRESH", "_SEARCH"] { settings["RATE_LIMIT\(name)"] = "100000" }
    return settings.merging([
      "LOG_LEVEL": level, "APPLE_BUNDLE_ID": "com.example.kith", "APPLE_JWKS_URL": keys.url,
      "AUTH_REDIRECTS": "myapp://signed-in", "ACCOUNT_ERASE_AFTER_DAYS": "0", "SMS_PER_ADDRESS_HOUR": "1000",
    ]) { $1 }
  }

  private func check(_ log: String, _ scenario: SecretLeakScenario, _ level: String) {
    let secrets = scenario.secrets
    #expect(secrets.found(in: log) == [])
    // The premise: the log contains these requests, and the search would find a secret in it.
    #expect(log.contains(#""route":"/api/v1/auth/sign_up""#) && log.contains("postponed") && log.contains("given up"))
    #expect(log.contains(#""level":"debug""#) == (level == "debug"))
    #expect(secrets.count > 30)
    #expect(secrets.found(in: log + #"{"error":"for Wendeline.Q@example.com"}"#) == ["wendeline.q@example.com"])
    for secret in TestStack.keys.values + [TestStack.adminKey, TwilioServer.token] {
      #expect(!log.contains(secret))
    }
  }
}
