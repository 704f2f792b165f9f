import Foundation
import Logging
import Messages
import Support
import Synchronization
import Testing
import Web
import Wire

/// Sending SMS to a Twilio server on loopback, and to the log.
@Suite struct SMSSenderTests {
  private let alice = PhoneNumber("+4915112345678")!

  @Test func aMessageArrivesAsTwilioWantsIt() async throws {
    try await withTwilio { twilio in
      let sender = try Settings(twilio.settings).smsSender(logger: quiet)
      try await sender.send("Your code is 123456 & more = 100 % + 1 ~ Grüße 👋", to: alice)
      let message = try #require(twilio.messages.first)
      #expect(message.form == ["To": alice.text, "From": TwilioServer.sender, "Body": message.text])
      #expect(message.text == "Your code is 123456 & more = 100 % + 1 ~ Grüße 👋")
      #expect(
        message.rawForm.hasPrefix("To=%2B4915112345678&From=%2B15005550006&Body=Your%20code%20is%20123456%20%26%20"))
      #expect(twilio.calls == 1)
    }
  }

  @Test(arguments: [
    ("MG0123456789abcdef0123456789abcdef", "MessagingServiceSid", "MG0123456789abcdef0123456789abcdef"),
    ("+1 (500) 555-0006", "From", "+15005550006"), ("12345", "From", "12345"), ("Kith", "From", "Kith"),
  ])
  func aSenderIsANumberANameOrAService(sender: String, field: String, value: String) async throws {
    try await withTwilio { twilio in
      let settings = Settings(twilio.settings).overlaid(["TWILIO_PHONE_NUMBER": sender])
      try await settings.smsSender(logger: quiet).send("Hello", to: alice)
      #expect(twilio.messages.map(\.form) == [["To": alice.text, field: value, "Body": "Hello"]])
    }
  }

  @Test(arguments: [
    (400, 21211, SMSFailure.Reason.invalidNumber, false), (400, 21614, .invalidNumber, false),
    (400, 21610, .optedOut, false), (400, 21408, .refused, false), (401, 20003, .credentials, false),
    (403, 20005, .refused, false), (429, 20429, .limited, true), (500, 20500, .broken, true),
    (503, 20503, .broken, true),
  ])
  func aRefusalSaysWhetherAnotherTryMakesSense(
    status: Int, code: Int, reason: SMSFailure.Reason, isRetryable: Bool
  ) async throws {
    try await withTwilio { twilio in
      let sender = try Settings(twilio.settings).smsSender(logger: quiet)
      twilio.next(.refuses(status: status, code: code))
      let failure = await #expect(throws: SMSFailure.self) { try await sender.send("Hello", to: alice) }
      #expect(failure == SMSFailure(reason, code: code))
      #expect(failure?.isRetryable == isRetryable)
      #expect(twilio.messages.isEmpty)
      #expect(twilio.calls == 1, "trying again is the worker's, with growing waits")
      try await sender.send("Hello", to: alice)
      #expect(twilio.messages.count == 1)
    }
  }

  @Test func whatWasTakenIsKnownAlsoWhenTheAnswerWasLost() async throws {
    try await withTwilio { twilio in
      let sender = try Settings(twilio.settings).smsSender(logger: quiet)
      twilio.next(.acceptsThenFails(status: 502))
      await #expect(throws: SMSFailure(.broken)) { try await sender.send("Code: ABC123", to: alice) }
      let isAccepted = try await sender.hasAccepted(textEndingIn: "Code: ABC123", to: alice)
      #expect(isAccepted)
      #expect(try await !sender.hasAccepted(textEndingIn: "Code: XYZ789", to: alice))
      let bob = try #require(PhoneNumber("+4915112345679"))
      #expect(try await !sender.hasAccepted(textEndingIn: "Code: ABC123", to: bob))
      #expect(twilio.messages.count == 1)
      // An unreachable provider is an error, not a no.
      let nowhere = Settings(twilio.settings).overlaid(["TWILIO_BASE_URL": "http://127.0.0.1:9"])
      await #expect(throws: SMSFailure(.unreachable)) {
        _ = try await nowhere.smsSender(logger: quiet).hasAccepted(textEndingIn: "Code: ABC123", to: alice)
      }
    }
  }

  @Test func twilioSaysWhenToComeBack() async throws {
    try await withTwilio { twilio in
      let sender = try Settings(twilio.settings).smsSender(logger: quiet)
      for (header, wait) in [("7", Duration.seconds(7)), ("-1", nil), ("99999999999999999999", nil), ("soon", nil)] {
        twilio.next(.refuses(status: 429, code: 20429, headers: ["Retry-After": header]))
        let failure = await #expect(throws: SMSFailure.self) { try await sender.send("Hello", to: alice) }
        #expect(failure == SMSFailure(.limited, code: 20429, retryAfter: wait))
      }
    }
  }

  @Test func wordsThatAreNotTwiliosAreUnderstoodByTheirStatus() async throws {
    try await withTwilio { twilio in
      let sender = try Settings(twilio.settings).smsSender(logger: quiet)
      for (status, reason) in [(502, SMSFailure.Reason.broken), (404, .refused), (301, .refused)] {
        twilio.next(.answers(status: status, body: "<html>\(String(repeating: "x", count: 5000))</html>"))
        await #expect(throws: SMSFailure(reason)) { try await sender.send("Hello", to: alice) }
      }
    }
  }

  @Test func wrongCredentialsAreAnAlarmWithoutTheSecret() async throws {
    try await withTwilio { twilio in
      let log = RecordedLog()
      let settings = Settings(twilio.settings).overlaid(["TWILIO_AUTH_TOKEN": "not the token"])
      let sender = try settings.smsSender(logger: log.logger)
      await #expect(throws: SMSFailure(.credentials, code: 20003)) { try await sender.send("Hello", to: alice) }
      let line = try #require(log.lines.first)
      #expect(line.contains("TWILIO_AUTH_TOKEN"))
      #expect(!log.lines.joined().contains("not the token"))
    }
  }

  @Test func whoDoesNotAnswerIsGivenUpAndWorthAnotherTry() async throws {
    try await withTwilio { twilio in
      let sender = try Settings(twilio.settings).smsSender(logger: quiet)
      twilio.next(.hangs)
      let failure = await #expect(throws: SMSFailure.self) {
        try await Deadline.$current.withValue(.now + .milliseconds(300)) { try await sender.send("Hello", to: alice) }
      }
      #expect(failure == SMSFailure(.unreachable))
      #expect(failure?.isRetryable == true)
      let nowhere = Settings(twilio.settings).overlaid(["TWILIO_BASE_URL": "http://127.0.0.1:\(try freePort())/"])
      await #expect(throws: SMSFailure(.unreachable)) {
        try await nowhere.smsSender(logger: quiet).send("Hello", to: alice)
      }
    }
  }

  @Test func withoutAProviderADeveloperReadsTheCodeInTheLog() async throws {
    let log = RecordedLog()
    try await Settings([:]).smsSender(logger: log.logger).send("Your code is 123456", to: alice)
    #expect(log.lines.count == 1)
    #expect(log.lines.joined().contains("123456"))
    #expect(log.lines.joined().contains(alice.text))
  }

  @Test func inProductionNoCodeIsEverInTheLog() async throws {
    let log = RecordedLog()
    let sender = try Settings(["ENVIRONMENT": "production"]).smsSender(logger: log.logger)
    #expect(log.lines.joined().contains("TWILIO_ACCOUNT_SID"), "whoever starts it is warned")
    await #expect(throws: SMSFailure(.notConfigured)) { try await sender.send("Your code is 123456", to: alice) }
    #expect(log.lines.count == 2)
    #expect(!log.lines.joined().contains("123456"))
    #expect(!log.lines.joined().contains(alice.text))
  }

  @Test func withAProviderNothingIsLogged() async throws {
    try await withTwilio { twilio in
      let log = RecordedLog()
      try await Settings(twilio.settings).smsSender(logger: log.logger).send("Your code is 123456", to: alice)
      #expect(twilio.messages.count == 1)
      #expect(log.lines.isEmpty)
    }
  }

  @Test(arguments: ["TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN", "TWILIO_PHONE_NUMBER"])
  func halfATwilioStopsTheStartByName(name: String) throws {
    let failure = #expect(throws: StartFailure.self) { try start([name: ""]) }
    #expect(failure?.description == "Twilio is half configured: \(name) is not set")
  }

  @Test(arguments: [
    ("TWILIO_BASE_URL", "api.twilio.com"), ("TWILIO_BASE_URL", "ftp://api.twilio.com"), ("TWILIO_BASE_URL", "https://"),
    ("TWILIO_BASE_URL", "http://example.com"), ("TWILIO_ACCOUNT_SID", "SK0123"), ("TWILIO_ACCOUNT_SID", "AC/../x"),
    ("TWILIO_PHONE_NUMBER", "0151 123"), ("TWILIO_PHONE_NUMBER", "A name that is too long"),
  ])
  func whatIsWrongStopsTheStartByName(name: String, value: String) throws {
    let failure = #expect(throws: StartFailure.self) { try start([name: value, "ENVIRONMENT": "production"]) }
    #expect(failure?.description.contains(name) == true)
    #expect(failure?.description.contains(value) != true)
  }

  private func start(_ changes: [String: String]) throws {
    let settings = [
      "TWILIO_ACCOUNT_SID": TwilioServer.account, "TWILIO_AUTH_TOKEN": TwilioServer.token,
      "TWILIO_PHONE_NUMBER": TwilioServer.sender,
    ]
    _ = try Settings(settings.merging(changes) { $1 }).smsSender(logger: quiet)
  }
}
