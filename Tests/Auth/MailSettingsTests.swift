import Foundation
import Support
import Testing
import Web

@testable import Auth

/// Valid and invalid values of `SMTP_URL`, `MAIL_FROM` and `SMTP_CA`.
@Suite struct MailSettingsTests {
  private func server(_ url: String, isDevelopment: Bool = false) throws -> SMTPServer {
    try SMTPServer(url, authorities: nil, isDevelopment: isDevelopment)
  }

  @Test(arguments: [
    ("smtp://mail.example.com", 587, SMTPServer.Security.startTLS), ("smtp://mail.example.com:2525/", 2525, .startTLS),
    ("smtps://mail.example.com", 465, .implicit), ("SMTPS://mail.example.com:999", 999, .implicit),
    ("smtp://127.0.0.1:1025", 1025, .none), ("smtp://localhost", 587, .none), ("smtp://[::1]:25", 25, .none),
    ("smtp://localhost?tls=required", 587, .startTLS), ("smtp://127.0.0.1?tls=none", 587, .none),
  ])
  func tlsIsThereUnlessItIsThisMachine(url: String, port: Int, security: SMTPServer.Security) throws {
    let server = try server(url)
    #expect(server.port == port)
    #expect(server.security == security)
    #expect(server.credentials == nil)
  }

  @Test func withoutTLSElsewhereIsForDevelopment() throws {
    #expect(try server("smtp://mail:1025?tls=none", isDevelopment: true).security == .none)
    let failure = #expect(throws: StartFailure.self) { try server("smtp://mail:1025?tls=none") }
    #expect(failure?.description.contains("tls=none is for development") == true)
  }

  @Test func aUserAndAPasswordMayHaveAnyCharacters() throws {
    let credentials = try server("smtp://ali%40ce:p%3A%2Fw%25@mail.example.com").credentials
    #expect(credentials?.user == "ali@ce")
    #expect(credentials?.password == "p:/w%")
  }

  @Test(arguments: [
    "mail.example.com", "http://mail.example.com", "smtp://", "smtp://mail.example.com/path",
    "smtp://mail.example.com:0",
    "smtp://mail.example.com:99999", "smtp://secret@mail.example.com", "smtp://mail.example.com?tls=maybe",
    "smtp://mail.example.com?ssl=no", "smtps://mail.example.com?tls=none", "smtp://mail.example.com?tls=none&tls=none",
  ])
  func whatIsWrongStopsTheStartByNameAndNotByValue(url: String) throws {
    let settings = Settings(["SMTP_URL": url, "MAIL_FROM": "kith@example.com"])
    let failure = #expect(throws: StartFailure.self) { try settings.mailSender(logger: quiet, now: { Date() }) }
    #expect(failure?.description.hasPrefix("SMTP_URL") == true)
    #expect(failure?.description.contains("secret") != true)
  }

  @Test(arguments: [
    ("MAIL_FROM", ""), ("MAIL_FROM", "Kith"), ("MAIL_FROM", "Kith <kith>"), ("SMTP_CA", "/nowhere/ca.pem"),
  ])
  func halfASenderStopsTheStartByName(name: String, value: String) throws {
    let settings = ["SMTP_URL": "smtps://mail.example.com", "MAIL_FROM": "kith@example.com"].merging([name: value]) {
      $1
    }
    let failure = #expect(throws: StartFailure.self) {
      try Settings(settings).mailSender(logger: quiet, now: { Date() })
    }
    #expect(failure?.description.contains(name) == true)
  }
}
