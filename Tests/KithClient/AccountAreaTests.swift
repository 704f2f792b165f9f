import Database
import Foundation
import Support
import Testing

@testable import KithClient

/// Accounts without a password, their ways in, and notifications, against the real server.
@Suite struct AccountAreaTests {
  private static let number = "+15550001111"

  @Test(arguments: engines) func aMailedCodeSignsInAndChoosesAPassword(engine: Engine) async throws {
    try await withMailServer { mail in
      try await withStack(engine, mail.settings) { stack in
        let alice = try stack.kithClient()
        try await alice.auth.requestCode(email: "alice@example.com")
        try await alice.auth.signIn(email: "alice@example.com", code: try await Self.code(of: mail, count: 1))
        #expect(try await alice.auth.account().email == "alice@example.com")
        #expect(try await alice.auth.identities().map(\.provider) == ["email"])
        let wrong = await #expect(throws: KithFailure.self) {
          try await stack.kithClient().auth.signIn(email: "alice@example.com", code: "000000")
        }
        #expect(wrong?.code == .known(.otpExpired))
        try await alice.auth.requestPasswordReset(email: "alice@example.com")
        let code = try await Self.code(of: mail, count: 2)
        try await alice.auth.resetPassword(email: "alice@example.com", code: code, to: "correct horse")
        let tablet = try stack.kithClient()
        try await tablet.auth.signIn(email: "alice@example.com", password: "correct horse")
        try await tablet.auth.endOtherSessions()
        #expect(try await tablet.auth.deviceSessions().filter(\.current).count == 1)
      }
    }
  }

  @Test func aServerWithKeysForAppsKnowsTheApp() async throws {
    try await withStack(engines[0], ["API_KEYS": "one,another"]) { stack in
      for key in [nil, "wrong"] {
        let refused = await #expect(throws: KithFailure.self) {
          try await stack.kithClient(apiKey: key).auth.signInAnonymously()
        }
        #expect(refused?.code == .known(.invalidAPIKey))
      }
      let alice = try stack.kithClient(apiKey: "another")
      try await alice.auth.signInAnonymously()
      #expect(try await alice.auth.identities().isEmpty)
      let list = try await alice.lists.create(name: "Groceries")
      for try await (update, _) in alice.events.updates(of: ["lists:\(list.id)"]) where update == .connected { break }
    }
  }

  @Test(arguments: engines) func whoIsNobodyYetAddsAWayIn(engine: Engine) async throws {
    try await withStack(engine, ["SMS_TEST_CODES": "\(Self.number):424242"]) { stack in
      let alice = try stack.kithClient()
      try await alice.auth.signInAnonymously()
      #expect(try await alice.auth.identities().isEmpty)
      try await alice.auth.requestCode(toAddPhoneNumber: Self.number)
      let added = try await alice.auth.add(phoneNumber: Self.number, code: "424242")
      #expect(added.map(\.provider) == ["phone"])
      #expect(try await alice.auth.phoneUser().phoneNumber == Self.number)
      let only = await #expect(throws: KithFailure.self) { try await alice.auth.remove(added[0]) }
      #expect(only?.code == .known(.lastIdentity))
      let profile = try await alice.auth.changeProfile(name: "Alice", locale: "nb", isDiscoverable: false)
      #expect(profile.locale == "nb" && profile.name == "Alice")
    }
  }

  @Test(arguments: engines) func theUserSaysWhatToBeNotifiedOf(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signedUpClient("alice")
      #expect(try await alice.notifications.preference().pushEnabled)
      let hours = NotificationPreference.QuietHours(enabled: true, start: "22:00", end: "07:00")
      let changed = try await alice.notifications.changePreference(kinds: ["new_photos": false], quietHours: hours)
      #expect(changed.kinds["new_photos"] == false && changed.kinds["nudge"] == true && changed.quietHours == hours)
      #expect(try await alice.notifications.preference() == changed)
      let unknown = await #expect(throws: KithFailure.self) {
        try await alice.notifications.changePreference(kinds: ["no_such_kind": true])
      }
      #expect(unknown?.code == .known(.validationError))
      let group = try await alice.groups.create(name: "Us", timeZone: .gmt)
      try await alice.notifications.mute(group)
      try await alice.notifications.unmute(group)
      try await alice.notifications.appOpened()
      try await alice.groups.change(group, description: "Friends", timeZone: TimeZone(identifier: "Europe/Oslo"))
      let shown = try await alice.groups.group(group)
      #expect(shown.name == "Us" && shown.description == "Friends" && shown.timeZone == "Europe/Oslo")
    }
  }

  /// The code of the mail with this number, which is sent in the background.
  private static func code(of server: MailServer, count: Int) async throws -> String {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(60)
    while server.messages.count < count, clock.now < end { try await Task.sleep(for: .milliseconds(20)) }
    let text = try #require(server.messages.last?.part("text/plain"))
    return String(try #require(text.firstMatch(of: /\b[0-9]{6}\b/)).output)
  }
}
