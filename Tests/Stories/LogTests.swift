import Database
import Foundation
import Support
import Testing
import Tokens

/// What is said in confidence is not in the log, whatever people do and whatever goes wrong.
@Suite struct LogTests {
  @Test(arguments: engines, ["debug", "info"])
  func nothingSaidInConfidenceIsLogged(engine: Engine, level: String) async throws {
    try await withTwilio { twilio in
      try await withMailServer(.none) { mail in
        try await withKeyServer { keys in
          try await withAppleServer { apple in
            try await withPlace(engine) { place in
              let kith = try await KithProcess.start(
                in: place, Self.settings(level, twilio, mail, keys, apple))
              let story = ConfidentialStory(kith: kith, twilio: twilio, mail: mail, keys: keys, apple: apple)
              try await story.happens()
              #expect(await kith.stop() == 0)
              check(kith.child.printed(), story, level)
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

  private func check(_ log: String, _ story: ConfidentialStory, _ level: String) {
    let secrets = story.secrets
    #expect(secrets.found(in: log) == [])
    // The log is one of these very requests, and what is looked for would be found.
    #expect(log.contains(#""route":"/api/v1/auth/sign_up""#) && log.contains("postponed") && log.contains("given up"))
    #expect(log.contains(#""level":"debug""#) == (level == "debug"))
    #expect(secrets.count > 30)
    #expect(secrets.found(in: log + #"{"error":"for Wendeline.Q@example.com"}"#) == ["wendeline.q@example.com"])
    for secret in TestStack.keys.values + [TestStack.adminKey, TwilioServer.token] {
      #expect(!log.contains(secret))
    }
  }
}
