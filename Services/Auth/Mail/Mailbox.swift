import Foundation

/// An e-mail address with or without a display name (RFC 5322 §3.4).
struct Mailbox: Sendable, Hashable {
  let name: String?
  let address: EmailAddress

  init(name: String?, address: EmailAddress) {
    self.name = name.flatMap { $0.isEmpty ? nil : $0 }
    self.address = address
  }

  /// `kith@example.com`, `Kith <kith@example.com>` or `"Kith" <kith@example.com>`.
  init?(_ text: String) {
    let text = text.trimmingCharacters(in: .whitespaces)
    guard text.hasSuffix(">"), let open = text.lastIndex(of: "<") else {
      guard let address = EmailAddress(text) else { return nil }
      self.init(name: nil, address: address)
      return
    }
    var name = text[..<open].trimmingCharacters(in: .whitespaces)
    if name.count >= 2, name.hasPrefix("\""), name.hasSuffix("\"") { name = String(name.dropFirst().dropLast()) }
    guard let address = EmailAddress(String(text[text.index(after: open)...].dropLast())), HeaderText.isOneLine(name)
    else { return nil }
    self.init(name: name, address: address)
  }

  /// The value for a header field.
  ///
  /// - Throws: ``MailFailure`` for a name that is not one line.
  func header() throws(MailFailure) -> String {
    guard let name else { return address.canonical }
    return "\(try HeaderText.phrase(name))\r\n <\(address.canonical)>"
  }
}
