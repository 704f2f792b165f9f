import Foundation
import Logging
import Messages
import Support
import Synchronization
import Testing
import Web
import Wire

/// Messages to phones, to a Twilio on loopback.
@Suite struct MessagesTests {
  private let alice = PhoneNumber("+4915112345678")!

  @Test func aMessageArrivesAsTwilioWantsIt() async throws {
    try await withTwilio { twilio in
      let messages = try Settings(twilio.settings).messages(logger: quiet)
      try await messages.send("Your code is 123456 & more = 100 % + 1 ~ Grüße 👋", to: alice)
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
      try await settings.messages(logger: quiet).send("Hello", to: alice)
      #expect(twilio.messages.map(\.form) == [["To": alice.text, field: value, "Body": "Hello"]])
    }
  }

  @Test(arguments: [
    (400, 21211, MessageFailure.Reason.invalidNumber, false), (400, 21614, .invalidNumber, false),
    (400, 21610, .optedOut, false), (400, 21408, .refused, false), (401, 20003, .credentials, false),
    (403, 20005, .refused, false), (429, 20429, .limited, true), (500, 20500, .broken, true),
    (503, 20503, .broken, true),
  ])
  func aRefusalSaysWhetherAnotherTryMakesSense(
    status: Int, code: Int, reason: MessageFailure.Reason, isWorthAnotherTry: Bool
  ) async throws {
    try await withTwilio { twilio in
      let messages = try Settings(twilio.settings).messages(logger: quiet)
      twilio.next(.refuses(status: status, code: code))
      let failure = await #expect(throws: MessageFailure.self) { try await messages.send("Hello", to: alice) }
      #expect(failure == MessageFailure(reason, code: code))
      #expect(failure?.isWorthAnotherTry == isWorthAnotherTry)
      #expect(twilio.messages.isEmpty)
      #expect(twilio.calls == 1, "trying again is the worker's, with growing waits")
      try await messages.send("Hello", to: alice)
      #expect(twilio.messages.count == 1)
    }
  }

  @Test func whatWasTakenIsKnownAlsoWhenTheAnswerWasLost() async throws {
    try await withTwilio { twilio in
      let messages = try Settings(twilio.settings).messages(logger: quiet)
      twilio.next(.takes(status: 502))
      await #expect(throws: MessageFailure(.broken)) { try await messages.send("Code: ABC123", to: alice) }
      let isTaken = try await messages.hasTaken(endingIn: "Code: ABC123", to: alice)
      #expect(isTaken)
      #expect(try await !messages.hasTaken(endingIn: "Code: XYZ789", to: alice))
      let bob = try #require(PhoneNumber("+4915112345679"))
      #expect(try await !messages.hasTaken(endingIn: "Code: ABC123", to: bob))
      #expect(twilio.messages.count == 1)
      // Who cannot be asked does not say no.
      let nowhere = Settings(twilio.settings).overlaid(["TWILIO_BASE_URL": "http://127.0.0.1:9"])
      await #expect(throws: MessageFailure(.unreachable)) {
        _ = try await nowhere.messages(logger: quiet).hasTaken(endingIn: "Code: ABC123", to: alice)
      }
    }
  }

  @Test func twilioSaysWhenToComeBack() async throws {
    try await withTwilio { twilio in
      let messages = try Settings(twilio.settings).messages(logger: quiet)
      for (header, wait) in [("7", Duration.seconds(7)), ("-1", nil), ("99999999999999999999", nil), ("soon", nil)] {
        twilio.next(.refuses(status: 429, code: 20429, headers: ["Retry-After": header]))
        let failure = await #expect(throws: MessageFailure.self) { try await messages.send("Hello", to: alice) }
        #expect(failure == MessageFailure(.limited, code: 20429, retryAfter: wait))
      }
    }
  }

  @Test func wordsThatAreNotTwiliosAreUnderstoodByTheirStatus() async throws {
    try await withTwilio { twilio in
      let messages = try Settings(twilio.settings).messages(logger: quiet)
      for (status, reason) in [(502, MessageFailure.Reason.broken), (404, .refused), (301, .refused)] {
        twilio.next(.answers(status: status, body: "<html>\(String(repeating: "x", count: 5000))</html>"))
        await #expect(throws: MessageFailure(reason)) { try await messages.send("Hello", to: alice) }
      }
    }
  }

  @Test func wrongCredentialsAreAnAlarmWithoutTheSecret() async throws {
    try await withTwilio { twilio in
      let log = RecordedLog()
      let settings = Settings(twilio.settings).overlaid(["TWILIO_AUTH_TOKEN": "not the token"])
      let messages = try settings.messages(logger: log.logger)
      await #expect(throws: MessageFailure(.credentials, code: 20003)) { try await messages.send("Hello", to: alice) }
      let line = try #require(log.lines.first)
      #expect(line.contains("TWILIO_AUTH_TOKEN"))
      #expect(!log.lines.joined().contains("not the token"))
    }
  }

  @Test func whoDoesNotAnswerIsGivenUpAndWorthAnotherTry() async throws {
    try await withTwilio { twilio in
      let messages = try Settings(twilio.settings).messages(logger: quiet)
      twilio.next(.hangs)
      let failure = await #expect(throws: MessageFailure.self) {
        try await Deadline.$current.withValue(.now + .milliseconds(300)) { try await messages.send("Hello", to: alice) }
      }
      #expect(failure == MessageFailure(.unreachable))
      #expect(failure?.isWorthAnotherTry == true)
      let nowhere = Settings(twilio.settings).overlaid(["TWILIO_BASE_URL": "http://127.0.0.1:\(try freePort())/"])
      await #expect(throws: MessageFailure(.unreachable)) {
        try await nowhere.messages(logger: quiet).send("Hello", to: alice)
      }
    }
  }

  @Test func withoutAProviderADeveloperReadsTheCodeInTheLog() async throws {
    let log = RecordedLog()
    try await Settings([:]).messages(logger: log.logger).send("Your code is 123456", to: alice)
    #expect(log.lines.count == 1)
    #expect(log.lines.joined().contains("123456"))
    #expect(log.lines.joined().contains(alice.text))
  }

  @Test func inProductionNoCodeIsEverInTheLog() async throws {
    let log = RecordedLog()
    let messages = try Settings(["ENVIRONMENT": "production"]).messages(logger: log.logger)
    #expect(log.lines.joined().contains("TWILIO_ACCOUNT_SID"), "whoever starts it is warned")
    await #expect(throws: MessageFailure(.notConfigured)) { try await messages.send("Your code is 123456", to: alice) }
    #expect(log.lines.count == 2)
    #expect(!log.lines.joined().contains("123456"))
    #expect(!log.lines.joined().contains(alice.text))
  }

  @Test func withAProviderNothingIsLogged() async throws {
    try await withTwilio { twilio in
      let log = RecordedLog()
      try await Settings(twilio.settings).messages(logger: log.logger).send("Your code is 123456", to: alice)
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
    _ = try Settings(settings.merging(changes) { $1 }).messages(logger: quiet)
  }
}
