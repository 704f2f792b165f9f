import Foundation
import Support
import Synchronization
import Testing
import Web

@testable import Auth

/// Sending mail to a real SMTP server on loopback, and to the log.
@Suite struct MailSenderTests {
  private let alice = EmailAddress("Alice@example.com")!

  private func message(_ text: String = "Your code is 123456") -> MailMessage {
    MailMessage(to: alice, subject: "Sign in", text: text, html: "<p>\(text)</p>")
  }

  private func sender(_ server: MailServer, _ changes: [String: String] = [:], log: RecordedLog = RecordedLog()) throws
    -> any MailSender
  {
    try Settings(server.settings.merging(changes) { $1 }).mailSender(logger: log.logger, now: { Date() })
  }

  /// A sender with a short timeout.
  private func shortTimeoutSender(
    _ server: MailServer, timeout: Duration = .milliseconds(800), threads: Int = 2, waitingMax: Int = 2
  ) throws -> SMTPMailSender {
    SMTPMailSender(
      server: try SMTPServer(server.url, authorities: nil, isDevelopment: true), from: Mailbox(MailServer.sender)!,
      logger: quiet, timeout: timeout, threads: threads, waitingMax: waitingMax, now: { Date() })
  }

  @Test func aMessageArrivesAsItWasWritten() async throws {
    try await withMailServer { server in
      let text = "Grüße, Alice!\n.\n..\n.end\n\(String(repeating: "0123456789", count: 20_000))\n"
      try await sender(server).send(message(text))
      let received = try #require(server.messages.first)
      #expect(server.messages.count == 1)
      #expect(received.from == "hello@kith.example")
      #expect(received.to == ["alice@example.com"])
      #expect(received.greeting == "kith.example")
      #expect(received.part("text/plain") == text)
      #expect(received.part("text/html") == "<p>\(text)</p>")
      #expect(!received.isEncrypted)
    }
  }

  @Test func startTLSCarriesTheMessageAndThePassword() async throws {
    try await withCertificate { folder in
      try await withMailServer(.startTLS(folder: folder), needsUser: true) { server in
        try await sender(server).send(message())
        #expect(server.messages.map(\.isEncrypted) == [true])
        #expect(server.messages.map(\.user) == [MailServer.user])
      }
      try await withMailServer(.implicit(folder: folder), needsUser: true) { server in
        try await sender(server).send(message())
        #expect(server.messages.map(\.isEncrypted) == [true])
      }
    }
  }

  @Test func nothingIsSaidToAServerThatIsNotBelieved() async throws {
    try await withCertificate { folder in
      try await withCertificate { other in
        for security in [MailServer.Security.startTLS(folder: folder), .implicit(folder: folder)] {
          try await withMailServer(security) { server in
            for authorities in ["", other + "/certificate.pem"] {
              let log = RecordedLog()
              let sender = try sender(server, ["SMTP_CA": authorities], log: log)
              await #expect(throws: MailFailure(.untrusted)) { try await sender.send(message()) }
              #expect(log.lines.joined().contains("SMTP_CA"))
            }
            // The certificate is for localhost only.
            let elsewhere = server.url.replacing("localhost", with: "127.0.0.1")
            await #expect(throws: MailFailure(.untrusted)) {
              try await self.sender(server, ["SMTP_URL": elsewhere]).send(message())
            }
            try await sender(server).send(message())
            #expect(server.messages.count == 1)
          }
        }
      }
    }
  }

  @Test func aServerWithoutTLSGetsNothingWhereTLSIsRequired() async throws {
    try await withMailServer(needsUser: true) { server in
      let sender = try sender(server, ["SMTP_URL": server.url + "?tls=required"])
      let failure = await #expect(throws: MailFailure.self) { try await sender.send(message()) }
      #expect(failure?.reason == .untrusted)
      #expect(failure?.isRetryable == true)
      #expect(server.messages.isEmpty)
    }
  }

  @Test func wrongCredentialsAreAnAlarmAndNotTriedAgain() async throws {
    try await withMailServer(needsUser: true) { server in
      let log = RecordedLog()
      let wrong = "smtp://\(MailServer.user):not-the-password@127.0.0.1:\(server.port)"
      let sender = try sender(server, ["SMTP_URL": wrong], log: log)
      let failure = await #expect(throws: MailFailure.self) { try await sender.send(message()) }
      #expect(failure == MailFailure(.credentials, code: 535))
      #expect(failure?.isRetryable == false)
      #expect(log.lines.joined().contains("SMTP_URL"))
      #expect(!log.lines.joined().contains("not-the-password"))
      let none = try self.sender(server, ["SMTP_URL": "smtp://127.0.0.1:\(server.port)"])
      await #expect(throws: MailFailure(.credentials, code: 530)) { try await none.send(message()) }
      #expect(server.messages.isEmpty)
    }
  }

  @Test(arguments: [
    ("CONNECT", "421 4.3.2 too busy", MailFailure.Reason.delayed, 421), ("MAIL", "451 4.3.0 later", .delayed, 451),
    ("RCPT", "450 4.2.0 greylisted", .delayed, 450), (".", "452 4.3.1 full", .delayed, 452),
    ("RCPT", "550 5.1.1 nobody", .refused, 550), ("MAIL", "553 5.7.1 not you", .refused, 553),
    (".", "554 5.7.1 spam", .refused, 554), ("CONNECT", "554 5.7.1 blocked", .refused, 554),
  ])
  func aRefusalSaysWhetherAnotherTryMakesSense(
    verb: String, line: String, reason: MailFailure.Reason, code: Int
  ) async throws {
    try await withMailServer { server in
      let sender = try sender(server)
      server.next(.replies(line, to: verb))
      let failure = await #expect(throws: MailFailure.self) { try await sender.send(message()) }
      #expect(failure == MailFailure(reason, code: code))
      #expect(failure?.isRetryable == (code < 500))
      #expect(server.messages.isEmpty)
      try await sender.send(message())
      #expect(server.messages.count == 1)
    }
  }

  @Test(arguments: ["CONNECT", "EHLO", "RCPT", "DATA", "."])
  func aServerThatHangsOrHangsUpIsGivenUpAndWorthAnotherTry(verb: String) async throws {
    try await withMailServer { server in
      let sender = try shortTimeoutSender(server)
      for behavior in [MailServer.Behavior.hangs(at: verb), .closesConnection(at: verb)] {
        server.next(behavior)
        let started = ContinuousClock.now
        let failure = await #expect(throws: MailFailure.self) { try await sender.send(message()) }
        #expect(failure == MailFailure(.unreachable))
        #expect(failure?.isRetryable == true)
        #expect(ContinuousClock.now - started < .seconds(20))
      }
      #expect(server.messages.isEmpty)
    }
  }

  @Test func aServerThatIsNotThereIsSaidSo() async throws {
    let settings = Settings(["SMTP_URL": "smtp://127.0.0.1:\(try freePort())", "MAIL_FROM": "kith@example.com"])
    let sender = try settings.mailSender(logger: quiet, now: { Date() })
    await #expect(throws: MailFailure(.unreachable)) { try await sender.send(message()) }
  }

  @Test func aServerThatDoesNotAnswerQUITHasAcceptedTheMessage() async throws {
    try await withMailServer { server in
      // Long enough for the message.
      let sender = try shortTimeoutSender(server, timeout: .seconds(5))
      server.next(.hangs(at: "QUIT"))
      let started = ContinuousClock.now
      try await sender.send(message())
      #expect(server.messages.count == 1)
      #expect(ContinuousClock.now - started < .seconds(60), "libcurl would wait for two minutes")
    }
  }

  @Test func aFewAtATimeAndNoLongLine() async throws {
    try await withMailServer { server in
      let sender = try shortTimeoutSender(server, timeout: .seconds(60), threads: 2, waitingMax: 2)
      server.next(.hangs(at: "CONNECT"), times: 2)
      let busy = BusyCounter()
      let sending = (0..<20).map { _ in
        Task {
          do { try await sender.send(message()) } catch let failure as MailFailure where failure.reason == .busy {
            busy.add()
          }
        }
      }
      try await eventually("a full line") { busy.count == 16 && server.connections == 2 }
      for task in sending { task.cancel() }
      for task in sending { _ = await task.result }
      #expect(server.connections == 2, "who was waiting has left the line")
      try await sender.send(message())
      #expect(server.messages.count == 1)
    }
  }

  @Test func whoIsCalledOffDoesNotWaitForAServerThatHangs() async throws {
    try await withMailServer { server in
      let sender = try sender(server)
      server.next(.hangs(at: "DATA"))
      let sending = Task { try await sender.send(message()) }
      try await eventually("a connection") { server.connections == 1 }
      let started = ContinuousClock.now
      sending.cancel()
      await #expect(throws: CancellationError.self) { try await sending.value }
      #expect(ContinuousClock.now - started < .seconds(40), "the time for a delivery is a minute")
    }
  }

  @Test func withoutAServerADeveloperReadsTheLinkInTheLog() async throws {
    let log = RecordedLog()
    try await Settings([:]).mailSender(logger: log.logger, now: { Date() }).send(message("https://kith.example/link"))
    #expect(log.lines.joined().contains("https://kith.example/link"))
  }

  @Test func inProductionNoLinkIsEverInTheLog() async throws {
    let log = RecordedLog()
    let sender = try Settings(["ENVIRONMENT": "production"]).mailSender(logger: log.logger, now: { Date() })
    #expect(log.lines.joined().contains("SMTP_URL"), "whoever starts it is warned")
    await #expect(throws: MailFailure(.notConfigured)) { try await sender.send(message()) }
    #expect(log.lines.count == 2)
    #expect(!log.lines.joined().contains("123456"))
    #expect(!log.lines.joined().lowercased().contains("alice"))
  }
}

private final class BusyCounter: Sendable {
  private let state = Mutex(0)

  var count: Int { state.withLock { $0 } }
  func add() { state.withLock { $0 += 1 } }
}
