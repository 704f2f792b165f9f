import Foundation
import Logging
import Synchronization

/// Sends mail through an SMTP server, a few letters at a time, each on a connection of its own.
struct SMTPMail: Mail {
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

  func send(_ letter: Letter) async throws {
    let message = try MIMEMessage(letter, from: from, at: now())
    let hold = Hold()
    let delivery = SMTPDelivery(
      server: server, from: from.address, to: letter.to, message: Array(message.text.utf8), timeout: timeout,
      isCalledOff: { hold.isCalledOff })
    do {
      try await withTaskCancellationHandler {
        try await threads.run { try delivery.run() }
      } onCancel: {
        hold.callOff()
      }
    } catch is WorkerThreads.Full {
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

/// Whether nobody waits for a delivery any longer.
private final class Hold: Sendable {
  private let flag = Atomic(false)

  var isCalledOff: Bool { flag.load(ordering: .relaxed) }
  func callOff() { flag.store(true, ordering: .relaxed) }
}
