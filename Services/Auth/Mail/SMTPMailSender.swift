import Foundation
import Logging
import Synchronization

/// Sends mail through an SMTP server, a few messages at a time, each on a connection of its own.
struct SMTPMailSender: MailSender {
  private let server: SMTPServer
  private let from: Mailbox
  private let logger: Logger
  private let timeout: Duration
  private let now: @Sendable () -> Date
  private let threads: WorkerThreads

  /// - Parameter timeout: for a whole delivery.
  init(
    server: SMTPServer, from: Mailbox, logger: Logger, timeout: Duration = .seconds(60), threads: Int = 4,
    waitingMax: Int = 64, now: @escaping @Sendable () -> Date
  ) {
    self.server = server
    self.from = from
    self.logger = logger
    self.timeout = timeout
    self.now = now
    self.threads = WorkerThreads("mail", threads: threads, waitingMax: waitingMax)
  }

  func send(_ message: MailMessage) async throws {
    let mime = try MIMEMessage(message, from: from, at: now())
    let cancellation = CancellationFlag()
    let delivery = SMTPDelivery(
      server: server, from: from.address, to: message.to, message: Array(mime.text.utf8), timeout: timeout,
      isCancelled: { cancellation.isSet })
    do {
      try await withTaskCancellationHandler {
        try await threads.run { try delivery.run() }
      } onCancel: {
        cancellation.set()
      }
    } catch is WorkerThreads.QueueFull {
      throw MailFailure(.busy)
    } catch let failure as MailFailure {
      switch failure.reason {
      case .credentials: logger.error("refused by the mail server: check the user and password of SMTP_URL")
      case .untrusted: logger.error("the mail server's certificate is not to be believed: check SMTP_URL and SMTP_CA")
      default: break
      }
      throw failure
    }
  }
}

/// Whether the caller of a delivery has been cancelled, readable from the thread that delivers.
private final class CancellationFlag: Sendable {
  private let flag = Atomic(false)

  var isSet: Bool { flag.load(ordering: .relaxed) }
  func set() { flag.store(true, ordering: .relaxed) }
}
