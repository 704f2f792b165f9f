import Foundation
import Support
import Testing

@testable import Auth

/// The format of mails for transmission.
@Suite struct MIMEMessageTests {
  private let alice = EmailAddress("alice@example.com")!
  private let kith = Mailbox("Kith <hello@kith.example>")!
  private let now = Date(timeIntervalSince1970: 1_795_255_530)
  private let long = String(repeating: "Grüße aus Köln, 👩‍👩‍👧‍👦 = 100 % ", count: 20)

  private func source(_ mail: MailMessage) throws -> String { try MIMEMessage(mail, from: kith, at: now).text }

  @Test func itIsShortLinesOfASCII() throws {
    let mail = MailMessage(to: alice, name: long, subject: long, text: long + "\n.\n\nend ", html: "<p>\(long)</p>")
    let lines = try source(mail).components(separatedBy: "\r\n")
    #expect(lines.count > 50)
    for line in lines {
      #expect(line.utf8.count <= 78)
      #expect(line.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
    }
  }

  @Test func plainWordsStayReadable() throws {
    let mail = MailMessage(to: alice, name: #"Alice "Al" B."#, subject: "Your code", text: "123456")
    let message = ReceivedMail(source: try source(mail))
    #expect(message.header("To") == #""Alice \"Al\" B." <alice@example.com>"#)
    #expect(message.header("From") == #""Kith" <hello@kith.example>"#)
    #expect(message.header("Subject") == "Your code")
    #expect(message.header("Date") == "Sat, 21 Nov 2026 10:05:30 +0000")
    #expect(message.header("Message-ID") == "<\(mail.id.uuidString.lowercased())@kith.example>")
    #expect(message.part("text/plain") == "123456\n")
    #expect(message.part("text/html") == nil)
  }

  @Test(arguments: [
    "\r\nBcc: bob@example.com", "\nBcc: bob@example.com", "\r", "\u{0}", "\u{85}", "\u{2028}", "\u{2029}",
  ])
  func nobodyPutsAHeaderIntoANameOrASubject(injected: String) throws {
    for subject in ["Hello" + injected, "Grüße" + injected] {
      #expect(throws: MailFailure(.malformed)) { try source(MailMessage(to: alice, subject: subject, text: "")) }
      #expect(throws: MailFailure(.malformed)) {
        try source(MailMessage(to: alice, name: subject, subject: "", text: ""))
      }
      #expect(Mailbox("\(subject) <kith@example.com>") == nil)
    }
    let mail = MailMessage(to: alice, subject: "Hello", text: "Hello\(injected)\r\n.\r\n")
    let head = try source(mail).components(separatedBy: "\r\n\r\n")[0]
    #expect(head.contains("Subject: Hello"))
    #expect(!head.contains("Bcc"))
  }

  @Test(arguments: [
    ("kith@example.com", nil, "kith@example.com"), ("Kith <kith@example.com>", "Kith", "kith@example.com"),
    (#""Kith, Inc." <Kith@Example.com>"#, "Kith, Inc.", "kith@example.com"),
    (" <kith@example.com>", nil, "kith@example.com"),
  ])
  func aSenderHasANameOrNone(text: String, name: String?, address: String) throws {
    let mailbox = try #require(Mailbox(text))
    #expect(mailbox.name == name)
    #expect(mailbox.address.canonical == address)
  }

  @Test(.enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: what its mail parser reads was not asked"))
  func anotherParserReadsWhatWasWritten() async throws {
    for text in [
      long, "short", "", "a\r\nb\rc\nd\n\n.\n..\n=41 =\n trailing \t\n", String(repeating: "x", count: 2000),
    ] {
      let mail = MailMessage(
        to: alice, name: "Zoë \"Z\" \\ =?UTF-8?B?aGk=?=", subject: long.trimmingCharacters(in: .whitespaces),
        text: text,
        html: "<p>\(text)</p>")
      let source = try source(mail)
      let printed = try await Python.run(Self.parser, input: source)
      let read = try JSONDecoder().decode([String: String].self, from: Data(printed.utf8))
      let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
      #expect(read["subject"] == mail.subject)
      #expect(read["to"] == mail.name)
      #expect(read["address"] == "alice@example.com")
      #expect(read["plain"] == lines)
      #expect(read["html"] == "<p>\(lines)</p>")
      #expect(read["date"] == "2026-11-21T10:05:30+00:00")
      #expect(read["defects"] == "[]")
      #expect(ReceivedMail(source: source).part("text/plain") == lines, "as the tests' own server reads it")
    }
  }

  private static let parser = """
    import email, email.policy, json
    message = email.message_from_bytes(open(sys.stdin.name, 'rb').read(), policy=email.policy.default)
    to = message['to'].addresses[0]
    plain, html = message.iter_parts()
    print(json.dumps({
      'subject': str(message['subject']), 'to': to.display_name, 'address': to.addr_spec,
      'plain': plain.get_content().replace('\\r', ''), 'html': html.get_content().replace('\\r', ''),
      'date': message['date'].datetime.isoformat(),
      'defects': str(message.defects + plain.defects + html.defects),
    }))
    """
}
