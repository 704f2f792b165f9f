import Foundation
import Logging
import Web

/// Sends mail.
protocol Mail: Sendable {
  /// Hands the letter to whoever delivers it. One that could not be handed over for certain may have gone out all the
  /// same; with the same id it is then recognised as the same letter.
  ///
  /// - Throws: ``MailFailure``, which says whether trying again makes sense; `CancellationError`.
  func send(_ letter: Letter) async throws
}

/// A mail to one person: the same words as text and, for most, as HTML.
struct Letter: Sendable {
  let to: EmailAddress
  /// The receiver's name, on one line.
  var name: String?
  /// One line.
  let subject: String
  let text: String
  var html: String?
  /// Becomes the Message-ID: the same for every try to send the same letter.
  var id = UUID()
}

/// Why a letter did not go out. Says nothing of whom it is for or what is in it.
struct MailFailure: Error, Hashable, CustomStringConvertible {
  enum Reason: String, Sendable {
    /// No connection, or no answer in time.
    case unreachable
    /// The server has no certificate that we believe, or no TLS at all.
    case untrusted
    /// The server does not take it now (4xx).
    case delayed
    /// Too many letters are waiting here.
    case busy
    /// The server does not believe who we are.
    case credentials
    /// The server will never take it (5xx).
    case refused
    /// A name or the subject is not one line of text.
    case malformed
    /// No server is configured.
    case notConfigured
  }

  let reason: Reason
  /// The server's reply code (RFC 5321 §4.2).
  var code: Int?

  init(_ reason: Reason, code: Int? = nil) {
    self.reason = reason
    self.code = code
  }

  /// A certificate is renewed sooner or later: what it stood in the way of need not be lost.
  var isWorthAnotherTry: Bool {
    switch reason {
    case .unreachable, .untrusted, .delayed, .busy: true
    case .credentials, .refused, .malformed, .notConfigured: false
    }
  }

  var description: String { "mail not sent: \(reason.rawValue)" + (code.map { " (\($0))" } ?? "") }
}

extension Settings {
  /// The server of `SMTP_URL` when there is one, else the log.
  ///
  /// - Throws: ``StartFailure`` that names what is missing or wrong.
  func mail(logger: Logger, now: @escaping @Sendable () -> Date) throws -> any Mail {
    let stage = try stage()
    guard let url = nonempty("SMTP_URL") else {
      if stage == .production { logger.warning("no mail can be sent: SMTP_URL is not set") }
      return LoggedMail(logger: logger, showsText: stage == .development)
    }
    guard let sender = nonempty("MAIL_FROM") else { throw StartFailure("SMTP_URL is set, but MAIL_FROM is not") }
    guard let from = Mailbox(sender) else {
      throw StartFailure("MAIL_FROM must be an e-mail address, or a name and one: Kith <kith@example.com>")
    }
    let authorities = nonempty("SMTP_CA")
    if let authorities, !FileManager.default.isReadableFile(atPath: authorities) {
      throw StartFailure("SMTP_CA is not a file that can be read")
    }
    let server = try SMTPServer(url, authorities: authorities, isDevelopment: stage == .development)
    return SMTPMail(server: server, from: from, logger: logger, now: now)
  }
}
