import Messages
import Testing
import Wire

/// Parsing of typed phone numbers.
@Suite struct PhoneNumberTests {
  @Test(arguments: [
    ("+4915112345678", "+4915112345678"), ("+49 151 12345678", "+4915112345678"),
    ("0049 151/12345-678", "+4915112345678"),
    ("+49 (0)151 1234 5678", "+4915112345678"), ("+490151 12345678", "+4915112345678"),
    (" (+49) 151.123.456.78 ", "+4915112345678"), ("+1 (415) 555-2671", "+14155552671"),
    ("001-415-555-2671", "+14155552671"),
    // As copied from contacts: direction marks, no-break spaces, long dashes.
    ("\u{202A}+1\u{A0}415\u{2011}555\u{2013}2671\u{202C}", "+14155552671"),
    // Non-Latin digits.
    ("+٤٩١٥١١٢٣٤٥٦٧٨", "+4915112345678"), ("＋１４１５５５５２６７１", "+14155552671"),
    // In Italy and Ivory Coast the zero is part of the number.
    ("+39 06 6982 0000", "+390669820000"), ("+225 01 23 45 67 89", "+2250123456789"),
    ("+290 2222", "+2902222"), ("+15550001111", "+15550001111"),
  ])
  func aNumberHasOneFormWhateverWayItWasTyped(typed: String, text: String) throws {
    let number = try #require(PhoneNumber(typed))
    #expect(number.text == text)
    #expect(PhoneNumber(number.text) == number)
  }

  @Test(arguments: [
    "", "+", "00", "0151 12345678", "4915112345678", "555-2671", "+49", "+49 1", "++4915112345678", "+49+15112345678",
    "+49 151 1234567890123", "+1 415 555 267", "+1 415 555 26711", "+1 115 555 2671", "+7 912 345 67",
    "+49 151 CALL ME",
    "+49 151 12345678 ext. 9", "+49 151 12345678\n+49 151 12345679", "+49 151,12345678", "+49 151½12345678",
    // Codes of no country: satellites, premium services, unassigned codes.
    "+881 612345678", "+979 123456789", "+800 12345678", "+878 10 1234567", "+999 12345678", "+210 12345678",
    "+0049 151 12345678", "+49" + String(repeating: " ", count: 100) + "15112345678",
  ])
  func whatIsNoNumberIsRefused(typed: String) {
    #expect(PhoneNumber(typed) == nil)
    #expect(throws: Failure.self) { try PhoneNumber.required(typed, field: "phone_number") }
  }

  @Test func aRefusalNamesTheField() {
    let failure = #expect(throws: Failure.self) { try PhoneNumber.required("12", field: "phone_number") }
    #expect(failure?.fields.map(\.field) == ["phone_number"])
  }

  @Test(arguments: [
    ("+4915112345678", "49", "+49"), ("+14155552671", "1", "+1"), ("+18765551234", "1", "+1876"),
    ("+79123456789", "7", "+7"), ("+77012345678", "7", "+77"), ("+390669820000", "39", "+39"),
    ("+2250123456789", "225", "+225"), ("+2902222", "290", "+290"),
  ])
  func aCountryIsABudget(text: String, code: String, prefix: String) throws {
    let number = try #require(PhoneNumber(text))
    #expect(number.callingCode == code)
    #expect(number.quotaPrefix == prefix)
  }

  @Test func noTextThatIsMadeOfItTellsIt() throws {
    let number = try #require(PhoneNumber("+4915112345678"))
    #expect(number.masked == "+49***78")
    for text in ["\(number)", String(reflecting: number), "\([number])", "\(Optional(number) as Any)"] {
      #expect(!text.contains("151123456"))
      #expect(text.contains("+49***78"))
    }
  }
}
