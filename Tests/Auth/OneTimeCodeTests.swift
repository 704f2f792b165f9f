import Foundation
import Messages
import Support
import Testing
import Tokens
import Web

@testable import Auth

/// One-time codes of six digits, and the fixed codes of test numbers.
@Suite struct OneTimeCodeTests {
  private let keys = DataKeys(["a data key of the tests 0123456789"])!

  @Test func everyCodeIsSixDigitsAndAsLikelyAsAnyOther() {
    let codes = (0..<20_000).map { _ in OneTimeCode.new().text }
    #expect(codes.allSatisfy { $0.utf8.count == 6 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
    #expect(Set(codes).count > 19_000)
    for place in 0..<6 {
      var counts = [UInt8: Int]()
      for code in codes { counts[Array(code.utf8)[place], default: 0] += 1 }
      // 2000 are expected, with a standard deviation of 42: the tolerance is ten of them.
      #expect(counts.count == 10)
      #expect(counts.values.allSatisfy { abs($0 - 2000) < 420 })
    }
  }

  @Test(arguments: ["123456", " 123456\n", "123 456", "123-456", "1 2 3 4 5 6"])
  func aCodeIsReadAsItWasTyped(typed: String) { #expect(OneTimeCode(typed: typed)?.text == "123456") }

  @Test(arguments: [
    "", "12345", "1234567", "12345a", "١٢٣٤٥٦", "+12345", "123456;", "12345６", "0x1234",
    "123456" + String(repeating: " ", count: 100),
  ])
  func whatIsNoCodeIsRefused(typed: String) { #expect(OneTimeCode(typed: typed) == nil) }

  @Test func aCodeIsGoodForWhomItWasSentToAndNobodyElse() throws {
    let code = try #require(OneTimeCode(typed: "012345"))
    let other = try #require(OneTimeCode(typed: "012346"))
    let kept = code.digest(for: "phone +4915112345678", under: keys)
    #expect(kept.count == 32)
    #expect(code.matches(kept, for: "phone +4915112345678", under: keys))
    #expect(!other.matches(kept, for: "phone +4915112345678", under: keys))
    #expect(!code.matches(kept, for: "phone +4915112345679", under: keys))
    #expect(!code.matches([], for: "phone +4915112345678", under: keys))
    #expect(!code.matches(Array(kept.dropLast()), for: "phone +4915112345678", under: keys))
  }

  @Test func aCodeOutlivesANewKeyAndNotTheLossOfItsOwn() throws {
    let code = OneTimeCode.new()
    let kept = code.digest(for: "alice", under: keys)
    let rotated = try #require(DataKeys(["a new data key of the tests 012345", "a data key of the tests 0123456789"]))
    let replaced = try #require(DataKeys(["a new data key of the tests 012345"]))
    #expect(code.matches(kept, for: "alice", under: rotated))
    #expect(!code.matches(kept, for: "alice", under: replaced))
    #expect(code.digest(for: "alice", under: rotated) == code.digest(for: "alice", under: replaced))
  }

  @Test func noTextThatIsMadeOfItTellsIt() {
    let code = OneTimeCode.new()
    #expect(!"\(code) \([code]) \(String(reflecting: code))".contains(code.text))
  }

  @Test func aTestersNumberHasAKnownCode() throws {
    let codes = try TestCodes(Settings(["SMS_TEST_CODES": "+15550001111:123456, +49 151 12345678:000000"]))
    #expect(codes[try #require(PhoneNumber("+1 555 000 1111"))]?.text == "123456")
    #expect(codes[try #require(PhoneNumber("+4915112345678"))]?.text == "000000")
    #expect(codes[try #require(PhoneNumber("+4915112345679"))] == nil)
    #expect(try TestCodes(Settings([:]))[try #require(PhoneNumber("+15550001111"))] == nil)
  }

  @Test(arguments: [
    "+15550001111", "+15550001111:12345", "15550001111:123456", ":123456", "+15550001111:123456:7",
    "+15550001111:123456,+1 555 000 1111:654321",
  ])
  func oddTestCodesStopTheStartByName(value: String) {
    let failure = #expect(throws: StartFailure.self) { try TestCodes(Settings(["SMS_TEST_CODES": value])) }
    #expect(failure?.description.hasPrefix("SMS_TEST_CODES") == true)
  }

  @Test(arguments: ["staging", "production"]) func onlyDevelopmentTakesTestCodes(stage: String) throws {
    let failure = #expect(throws: StartFailure.self) {
      try TestCodes(Settings(["SMS_TEST_CODES": "+15550001111:123456", "ENVIRONMENT": stage]))
    }
    #expect(failure?.description.hasPrefix("SMS_TEST_CODES") == true)
    #expect(failure?.description.contains("123456") != true)
    _ = try TestCodes(Settings(["SMS_TEST_CODES": "", "ENVIRONMENT": stage]))
  }
}
