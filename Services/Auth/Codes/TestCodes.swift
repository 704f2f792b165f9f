import Messages
import Web

/// Phone numbers with fixed codes, to which no SMS is sent: for developers and their tests (`SMS_TEST_CODES`).
struct TestCodes: Sendable {
  private let codes: [PhoneNumber: OneTimeCode]

  /// - Throws: ``StartFailure`` for a value that is not `+15550001111:123456,…`, and outside development for any value.
  init(_ settings: Settings) throws {
    var codes: [PhoneNumber: OneTimeCode] = [:]
    for entry in settings.list("SMS_TEST_CODES") {
      let parts = entry.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let number = PhoneNumber(parts[0]), let code = OneTimeCode(typed: parts[1]),
        codes.updateValue(code, forKey: number) == nil
      else { throw StartFailure("SMS_TEST_CODES must be +15550001111:123456,… with each number once") }
    }
    if !codes.isEmpty, try settings.stage() != .development {
      throw StartFailure("SMS_TEST_CODES lets anybody in who knows it: only development takes it")
    }
    self.codes = codes
  }

  subscript(_ number: PhoneNumber) -> OneTimeCode? { codes[number] }
}
