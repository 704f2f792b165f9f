import Foundation

/// A mail in the format for transmission (RFC 5322, RFC 2045, RFC 2046): short lines of ASCII, ended by CRLF.
struct MIMEMessage: Sendable {
  let text: String

  /// - Throws: ``MailFailure`` when a name or the subject is not one line.
  init(_ message: MailMessage, from: Mailbox, at now: Date) throws(MailFailure) {
    let to = Mailbox(name: message.name, address: message.to)
    let headers = [
      "Date: \(Self.date(now))",
      "From: \(try from.header())",
      "To: \(try to.header())",
      "Message-ID: <\(message.id.uuidString.lowercased())@\(from.address.domain)>",
      "Subject: \(try HeaderText.unstructured(message.subject))",
      "MIME-Version: 1.0",
      // So that no automatic reply is sent (RFC 3834).
      "Auto-Submitted: auto-generated",
    ]
    text = headers.joined(separator: "\r\n") + "\r\n" + Self.content(of: message) + "\r\n"
  }

  private static func content(of message: MailMessage) -> String {
    let plain = part("text/plain", message.text)
    guard let html = message.html else { return plain }
    // `=_` never occurs in quoted-printable text.
    let boundary = "=_\(UUID().uuidString)"
    return """
      Content-Type: multipart/alternative;\r
       boundary="\(boundary)"\r
      \r
      --\(boundary)\r
      \(plain)\r
      --\(boundary)\r
      \(part("text/html", html))\r
      --\(boundary)--
      """
  }

  private static func part(_ type: String, _ text: String) -> String {
    """
    Content-Type: \(type); charset=utf-8\r
    Content-Transfer-Encoding: quoted-printable\r
    \r
    \(QuotedPrintable.encode(text))
    """
  }

  /// RFC 5322 §3.3.
  private static func date(_ date: Date) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    formatter.dateFormat = "EEE, d MMM yyyy HH:mm:ss '+0000'"
    return formatter.string(from: date)
  }
}
