import KithClient
import Support
import Testing

/// A number is the same for the client and for the server.
@Suite struct ClientPhoneNumberTests {
  @Test(arguments: [
    "+4915112345678", "+49 151 12345678", "0049 151/12345-678", "+49 (0)151 1234 5678", "+490151 12345678",
    " (+49) 151.123.456.78 ", "+1 (415) 555-2671", "001-415-555-2671",
    "\u{202A}+1\u{A0}415\u{2011}555\u{2013}2671\u{202C}", "+٤٩١٥١١٢٣٤٥٦٧٨", "＋１４１５５５５２６７１", "+39 06 6982 0000",
    "+225 01 23 45 67 89", "+290 2222", "+15550001111",
  ])
  func theServersCasesAreNumbers(typed: String) {
    #expect(serverPhoneNumber(typed) != nil)
    #expect(PhoneNumber(typed)?.text == serverPhoneNumber(typed))
  }

  @Test(arguments: [
    "", "+", "00", "0151 12345678", "4915112345678", "555-2671", "+49", "+49 1", "++4915112345678", "+49+15112345678",
    "+49 151 1234567890123", "+1 415 555 267", "+1 415 555 26711", "+1 115 555 2671", "+7 912 345 67",
    "+49 151 CALL ME", "+49 151 12345678 ext. 9", "+49 151 12345678\n+49 151 12345679", "+49 151,12345678",
    "+49 151½12345678", "+881 612345678", "+979 123456789", "+800 12345678", "+878 10 1234567", "+999 12345678",
    "+210 12345678", "+0049 151 12345678",
  ])
  func theServersRefusalsAreNone(typed: String) {
    #expect(serverPhoneNumber(typed) == nil)
    #expect(PhoneNumber(typed) == nil)
  }

  @Test func anyTextIsTheSameForBoth() {
    var random = SeededRandom(seed: 1)
    let letters = Array("++00123456789 -./()x\u{A0}\u{202A}٤")
    var numberCount = 0
    for _ in 0..<20_000 {
      let prefix =
        ["+49", "+1", "+39", "0044", "", "+7", "+\(Int.random(in: 1...999, using: &random))"]
        .randomElement(using: &random) ?? ""
      let rest = (0..<Int.random(in: 0...14, using: &random)).map { _ in letters.randomElement(using: &random) ?? "1" }
      let typed = prefix + String(rest)
      #expect(PhoneNumber(typed)?.text == serverPhoneNumber(typed), "\(typed)")
      if PhoneNumber(typed) != nil { numberCount += 1 }
    }
    #expect(numberCount > 500)
  }
}
