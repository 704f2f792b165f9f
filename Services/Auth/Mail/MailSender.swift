import Foundation
import Logging
import Web

/// Sends mail.
protocol MailSender: Sendable {
  /// Hands the message over for delivery. A message may have been sent although this throws; a retry with the same id
  /// is then recognised as the same message.
  ///
  /// - Throws: ``MailFailure``, which says whether a retry makes sense; `CancellationError`.
  func send(_ message: MailMessage) async throws
}

extension Settings {
  /// A sender through the server of `SMTP_URL` when that is set, else one that writes to the log.
  ///
  /// - Throws: ``StartFailure`` that names what is missing or wrong.
  func mailSender(logger: Logger, now: @escaping @Sendable () -> Date) throws -> any MailSender {
    let stage = try stage()
    guard let url = nonempty("SMTP_URL") else {
      if stage == .production { logger.warning("no mail can be sent: SMTP_URL is not set") }
      return LogMailSender(logger: logger, showsText: stage == .development)
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
    return SMTPMailSender(server: server, from: from, logger: logger, now: now)
  }
}
