import Foundation

/// A letter as it goes over the wire (RFC 5322, RFC 2045, RFC 2046): short lines of ASCII, ended by CRLF.
struct MIMEMessage: Sendable {
  let text: String

  /// - Throws: ``MailFailure`` when a name or the subject is not one line.
  init(_ letter: Letter, from: Mailbox, at now: Date) throws(MailFailure) {
    let to = Mailbox(name: letter.name, address: letter.to)
    let headers = [
      "Date: \(Self.date(now))",
      "From: \(try from.header())",
      "To: \(try to.header())",
      "Message-ID: <\(letter.id.uuidString.lowercased())@\(from.address.domain)>",
      "Subject: \(try HeaderText.unstructured(letter.subject))",
      "MIME-Version: 1.0",
      // So that no holiday's note comes back (RFC 3834).
      "Auto-Submitted: auto-generated",
    ]
    text = headers.joined(separator: "\r\n") + "\r\n" + Self.content(of: letter) + "\r\n"
  }

  private static func content(of letter: Letter) -> String {
    let plain = part("text/plain", letter.text)
    guard let html = letter.html else { return plain }
    // `=_` never stands in quoted-printable text.
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
