import Foundation
import Testing

@testable import KithClient

/// What is sent to sign in without a password, to change how, and to be notified.
@Suite struct AccountRequestTests {
  @Test func codesOfMails() async throws {
    try await expectRequest(
      "POST", "/auth/v1/otp", #"{"email": "a@b.c", "create_user": false}"#, isBearer: false
    ) { try await $0.auth.requestCode(email: "a@b.c", makesAccount: false) }
    try await expectRequest(
      "POST", "/auth/v1/verify", #"{"type": "email", "email": "a@b.c", "token": "123456"}"#, isBearer: false
    ) { try await $0.auth.signIn(email: "a@b.c", code: "123456") }
    try await expectRequest("POST", "/auth/v1/signup", "{}", isBearer: false) {
      try await $0.auth.signInAnonymously()
    }
    try await expectRequest(
      "PUT", "/api/v1/auth/password", #"{"email": "a@b.c", "token": "123456", "password": "new"}"#, isBearer: false
    ) { try await $0.auth.resetPassword(email: "a@b.c", code: "123456", to: "new") }
  }

  @Test func waysIn() async throws {
    try await expectRequest(
      "POST", "/api/v1/auth/identities/apple",
      #"{"identity_token": "t", "nonce": "n", "authorization_code": "c"}"#
    ) { _ = try await $0.auth.addApple(identityToken: "t", nonce: AppleNonce(raw: "n"), authorizationCode: "c") }
    try await expectRequest("POST", "/api/v1/auth/identities/email", #"{"email": "a@b.c"}"#) {
      try await $0.auth.requestCode(toAdd: "a@b.c")
    }
    try await expectRequest(
      "POST", "/api/v1/auth/identities/email/confirm", #"{"email": "a@b.c", "code": "123456"}"#
    ) { _ = try await $0.auth.add(email: "a@b.c", code: "123456") }
    try await expectRequest("POST", "/api/v1/auth/identities/phone", #"{"phone_number": "+1"}"#) {
      try await $0.auth.requestCode(toAddPhoneNumber: "+1")
    }
    try await expectRequest(
      "POST", "/api/v1/auth/identities/phone/confirm", #"{"phone_number": "+1", "code": "123456"}"#
    ) { _ = try await $0.auth.add(phoneNumber: "+1", code: "123456") }
    let phone = Identity(provider: "phone", subject: "+1", email: nil, verified: true, createdAt: nil)
    try await expectRequest("DELETE", "/api/v1/auth/identities/phone") { try await $0.auth.remove(phone) }
    let clerk = Identity(provider: "https://clerk.example", subject: "u", email: nil, verified: true, createdAt: nil)
    try await expectRequest("DELETE", "/api/v1/auth/identities?issuer=https://clerk.example") {
      try await $0.auth.remove(clerk)
    }
    try await expectRequest("DELETE", "/api/v1/auth/sessions") { try await $0.auth.endOtherSessions() }
  }

  @Test func profiles() async throws {
    try await expectRequest("GET", "/api/auth/me") { _ = try await $0.auth.phoneUser() }
    try await expectRequest(
      "PATCH", "/api/v1/users/profile",
      """
      {"name": "Kim", "timezone": "Europe/Oslo", "avatar_url": "https://a.example/k.jpg", "locale": "nb",
       "discoverable": false}
      """
    ) {
      _ = try await $0.auth.changeProfile(
        name: "Kim", timeZone: TimeZone(identifier: "Europe/Oslo"), avatarURL: "https://a.example/k.jpg", locale: "nb",
        isDiscoverable: false)
    }
    try await expectRequest("PATCH", "/api/v1/users/profile", #"{"name": "Kim"}"#) {
      _ = try await $0.auth.changeProfile(name: "Kim")
    }
  }

  @Test func notifications() async throws {
    try await expectRequest(
      "POST", "/api/devices/register",
      #"{"device_token": "abab", "platform": "ios", "environment": "sandbox", "timezone": "UTC"}"#
    ) {
      try await $0.notifications.registerDevice(
        token: Data([0xAB, 0xAB]), environment: .sandbox, timeZone: .gmt)
    }
    try await expectRequest("GET", "/api/v1/notification_preference") { _ = try await $0.notifications.preference() }
    let hours = NotificationPreference.QuietHours(enabled: true, start: "22:00", end: "07:00")
    try await expectRequest(
      "PATCH", "/api/v1/notification_preference",
      """
      {"push_enabled": true, "kinds": {"new_photos": false},
       "quiet_hours": {"enabled": true, "start": "22:00", "end": "07:00"}}
      """
    ) {
      _ = try await $0.notifications.changePreference(
        pushEnabled: true, kinds: ["new_photos": false], quietHours: hours)
    }
    try await expectRequest("PUT", "/api/groups/g/mute") { try await $0.notifications.mute("g") }
    try await expectRequest("DELETE", "/api/groups/g/mute") { try await $0.notifications.unmute("g") }
    try await expectRequest("POST", "/api/v1/analytics/app_opened") { try await $0.notifications.appOpened() }
  }

  @Test func aPreferenceIsRead() async throws {
    let (client, _) = try await KithClient.scripted { _, _ in
      .json(
        """
        {"notification_preference": {"push_enabled": true, "kinds": {"new_photos": true, "nudge": false},
         "quiet_hours": {"enabled": false, "start": "22:00", "end": "07:00"}}}
        """)
    }
    let preference = try await client.notifications.preference()
    #expect(preference.kinds["new_photos"] == true && preference.kinds["nudge"] == false)
    #expect(!preference.quietHours.enabled && preference.quietHours.start == "22:00")
  }

  /// A code that was sent may be used up, whatever became of the answer.
  @Test func codesAreSentOnce() async throws {
    let calls: [@Sendable (KithClient) async throws -> Void] = [
      { try await $0.auth.signIn(email: "a@b.c", code: "123456") }, { try await $0.auth.signInAnonymously() },
      { try await $0.auth.resetPassword(email: "a@b.c", code: "123456", to: "new") },
      { _ = try await $0.auth.add(phoneNumber: "+1", code: "123456") },
    ]
    for call in calls {
      let (client, transport) = try await KithClient.scripted { _, _ in throw NoAnswer("lost") }
      await #expect(throws: KithFailure.unreachable("lost")) { try await call(client) }
      #expect(transport.requests.count == 1)
    }
  }

  @Test func theOnlyWayInStays() async throws {
    let (client, _) = try await KithClient.scripted { _, _ in .refusal(409, "last_identity") }
    let failure = await #expect(throws: KithFailure.self) {
      try await client.auth.remove(Identity(provider: "email", subject: nil, email: nil, verified: nil, createdAt: nil))
    }
    #expect(failure?.code == .known(.lastIdentity))
  }
}
