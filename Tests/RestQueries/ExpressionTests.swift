import Foundation
import Testing
import Wire

@testable import RestQueries

/// Regular expressions and JSON, as SQLite is given them.
@Suite struct ExpressionTests {
  @Test(arguments: [
    ("", "abc", true), ("b", "abc", true), ("^b", "abc", false), ("c$", "abc", true), ("^$", "", true),
    ("^$", "a", false),
    ("a.c", "a\nc", true), ("a|b$", "xb", true), ("^(a|b)+$", "abba", true), ("^(a|b)+$", "abcba", false),
    ("^a{2,3}$", "aa", true), ("^a{2,3}$", "aaaa", false), ("^a{2}$", "aa", true), ("^a{2,}$", "aaaaa", true),
    ("^a{0}$", "", true), ("[a-c]x", "bx", true), ("[^a-c]x", "bx", false), ("[]x]", "]", true), ("[a-]", "-", true),
    (#"\d\w\s"#, "1_ ", true), (#"\D"#, "12", false), (#"\."#, "a", false), (#"[\d.]+$"#, "1.5", true),
    ("(?:ab)?c", "c", true),
    ("()", "x", true), ("(|a)b", "b", true), ("é", "café", true), ("🎈", "a🎈", true), ("É", "é", false),
  ])
  func expressionsMatch(pattern: String, text: String, isMatch: Bool) throws {
    #expect(try RegularExpression(pattern, isCaseSensitive: true).matches(text) == isMatch)
  }

  @Test func caseIsIgnoredInASCIIOnly() throws {
    #expect(try RegularExpression("^[A-C]x", isCaseSensitive: false).matches("bX"))
    #expect(try !RegularExpression("[^a]", isCaseSensitive: false).matches("A"))
    #expect(try !RegularExpression("É", isCaseSensitive: false).matches("é"))
  }

  @Test(arguments: [
    "(", ")", "a**", "*a", "[", "[z-a]", "a{3,2}", "a{101}", "{1}", #"\1"#, #"\b"#, "(?=a)", "[[:alpha:]]", "^*",
  ])
  func otherExpressionsAreRefused(pattern: String) {
    let failure = #expect(throws: RestFailure.self) { try RegularExpression(pattern, isCaseSensitive: true) }
    #expect(failure?.code == "2201B")
  }

  /// Backtracking would take longer than the world exists.
  @Test func expressionsThatExplodeElsewhereAreMatchedAtOnce() throws {
    let text = String(repeating: "a", count: 5000)
    #expect(try !RegularExpression("^(a+)+$", isCaseSensitive: true).matches(text + "b"))
    #expect(try !RegularExpression("(a|a)*(a|a)*(a|a)*c", isCaseSensitive: true).matches(text))
    #expect(throws: RestFailure.self) { try RegularExpression("((a{100}){100}){100}", isCaseSensitive: true) }
  }

  @Test(arguments: [
    (#" { "b" : [ 1.50 , true , null ] , "a" : "\u00e9\/\n" } "#, #"{"b":[1.50,true,null],"a":"é/\n"}"#),
    ("-0.5e-3", "-0.5e-3"),
    (#"{"a":1,"b":2,"a":3}"#, #"{"a":3,"b":2}"#), (#""\ud83c\udf88""#, "\"🎈\""), ("[]", "[]"), ("{}", "{}"),
  ])
  func jsonKeepsItsOrderAndItsDigits(text: String, expected: String) throws {
    #expect(try JSONReader.tree(of: text).text == expected)
  }

  @Test(arguments: [
    "", "{", "[1,]", "{\"a\"}", "{a:1}", "01", "1.", ".5", "+1", "1e999", "NaN", "tru", "\"\u{1}\"", #""\x""#,
    #""\u12""#, "[1] 2",
    #""\ud800""#, #""\u0000""#, "'a'",
  ])
  func otherTextsAreNotJSON(text: String) {
    #expect(throws: JSONReader.Problem.self) { try JSONReader.tree(of: text) }
    #expect(throws: JSONReader.Problem.self) { try JSONReader.tree(of: [0x22, 0xFF, 0x22]) }
  }

  /// Also of those whose exponent is as small as an integer can be.
  @Test(arguments: [
    ("1.5", "15e-1", true), ("100", "1e2", true), ("0", "-0", true), ("-0.0", "0e9223372036854775807", true),
    ("10", "100", false), ("-1", "1", false), ("1.5", "1.50001", false), ("1", "1.5e-9223372036854775808", false),
    ("1.5e-9223372036854775808", "1.5e-9223372036854775808", true), ("1.5e-99999999999999999999", "1.5", false),
  ])
  func numbersAreEqualByTheirValue(one: String, two: String, areEqual: Bool) throws {
    let (one, two) = (try JSONReader.tree(of: one), try JSONReader.tree(of: two))
    #expect(try one.equals(two) == areEqual)
    #expect(try JSONTree.array([.null, one]).contains(.array([two])) == areEqual)
  }

  @Test(arguments: [
    (#"{"a":1,"b":[1,2]}"#, #"{"b":[2]}"#, true), (#"{"a":1.0}"#, #"{"a":10e-1}"#, true), ("[1,[2,3]]", "[[3]]", true),
    ("[1,2]", "2", true), ("[[1,2]]", "[2]", false), (#"{"a":{"b":1}}"#, #"{"b":1}"#, false), ("[]", "[1]", false),
    ("1", "1", true),
    ("{}", "[]", false), (#""a""#, #""b""#, false),
  ])
  func jsonContainsItsParts(one: String, two: String, isContained: Bool) throws {
    #expect(try JSONReader.tree(of: one).contains(JSONReader.tree(of: two)) == isContained)
  }
}
