import Logging
import Web

/// Sends SMS.
package protocol SMSSender: Sendable {
  /// Hands the message to the provider. A message may have been sent although this throws: a retry may send it twice.
  ///
  /// - Throws: ``SMSFailure``, which says whether a retry makes sense; `CancellationError`.
  func send(_ text: String, to number: PhoneNumber) async throws

  /// Whether the provider accepted a message earlier, as far as it can be determined, after an attempt with an unknown
  /// outcome.
  ///
  /// - Parameter ending: the end of the text, unique to this message: a provider may replace characters in the rest.
  /// - Throws: ``SMSFailure`` when it cannot be determined; `CancellationError`.
  func hasAccepted(textEndingIn ending: String, to number: PhoneNumber) async throws -> Bool
}

extension Settings {
  /// A sender through Twilio when that is configured, else one that writes to the log.
  ///
  /// - Throws: ``StartFailure`` that names what is missing in an incomplete configuration of Twilio, or what is wrong.
  package func smsSender(logger: Logger) throws -> any SMSSender {
    if let account = try twilioAccount() { return TwilioSMSSender(account, logger: logger) }
    let stage = try stage()
    if stage == .production {
      logger.warning("no text message can be sent: TWILIO_ACCOUNT_SID is not set")
    }
    return LogSMSSender(logger: logger, showsText: stage == .development)
  }
}
