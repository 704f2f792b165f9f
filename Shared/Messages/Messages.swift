import Logging
import Web

/// Sends short text messages to phones.
package protocol Messages: Sendable {
  /// Hands the message to whoever delivers it. A message that could not be handed over for certain may have gone out all
  /// the same, so that trying again may send it twice.
  ///
  /// - Throws: ``MessageFailure``, which says whether trying again makes sense; `CancellationError`.
  func send(_ text: String, to number: PhoneNumber) async throws

  /// Whether a message was handed over before, as far as its deliverer can tell, after a try whose end is not known.
  ///
  /// - Parameter ending: how the text ends, and no other does: a deliverer may write the rest in other characters.
  /// - Throws: ``MessageFailure`` when it cannot tell; `CancellationError`.
  func hasTaken(endingIn ending: String, to number: PhoneNumber) async throws -> Bool
}

/// Why a message did not go out. Says nothing of the number or the text.
package struct MessageFailure: Error, Hashable, CustomStringConvertible {
  package enum Reason: String, Sendable {
    /// No connection, or no answer in time.
    case unreachable
    /// The provider has trouble of its own.
    case broken
    /// Too many messages for the provider.
    case limited
    /// There is no such number, or none that takes messages.
    case invalidNumber
    /// Its owner wants no more messages from us.
    case optedOut
    /// The provider does not believe who we are.
    case credentials
    /// No provider is configured.
    case notConfigured
    /// The provider will not send this, for a reason of its own: see ``code``.
    case refused
  }

  package let reason: Reason
  /// The provider's own number for the reason.
  package var code: Int?
  /// When the provider wants to be asked again.
  package var retryAfter: Duration?

  package init(_ reason: Reason, code: Int? = nil, retryAfter: Duration? = nil) {
    self.reason = reason
    self.code = code
    self.retryAfter = retryAfter
  }

  package var isWorthAnotherTry: Bool {
    switch reason {
    case .unreachable, .broken, .limited: true
    case .invalidNumber, .optedOut, .credentials, .notConfigured, .refused: false
    }
  }

  /// Whether the message may have gone out all the same: nobody answered, or whoever stands before the provider did.
  package var isOutcomeUnknown: Bool { reason == .unreachable || (reason == .broken && code == nil) }

  package var description: String { "message not sent: \(reason.rawValue)" + (code.map { " (\($0))" } ?? "") }
}

extension Settings {
  /// Twilio when it is configured, else the log.
  ///
  /// - Throws: ``StartFailure`` that names what a half-configured Twilio lacks, or what is wrong.
  package func messages(logger: Logger) throws -> any Messages {
    if let account = try twilioAccount() { return TwilioMessages(account, logger: logger) }
    let stage = try stage()
    if stage == .production {
      logger.warning("no text message can be sent: TWILIO_ACCOUNT_SID is not set")
    }
    return LoggedMessages(logger: logger, showsText: stage == .development)
  }
}
