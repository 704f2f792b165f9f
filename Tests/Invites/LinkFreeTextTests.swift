import Foundation
import Testing

@testable import Invites

/// Names of users and groups contain no links in texts.
@Suite struct LinkFreeTextTests {
  @Test(arguments: [
    ("evil.com", "evil. com"), ("Win at evil.example/x", "Win at evil. example/x"), ("www.evil.com", "www. evil. com"),
    ("https://evil.com/a?b", "https: //evil. com/a?b"), ("bob@evil.com", "bob@ evil. com"), ("1.2.3.4", "1. 2. 3. 4"),
    ("evil..com", "evil.. com"), ("evil.\u{200B}com", "evil. com"), ("evil\u{2060}.\u{200C}com", "evil. com"),
    // Dots of other scripts, small and full-width dots.
    ("evil\u{3002}com", "evil\u{3002} com"), ("evil\u{FF0E}com", "evil. com"), ("evil\u{FF61}com", "evil\u{3002} com"),
    ("evil\u{2024}com", "evil. com"), ("evil\u{FE52}com", "evil. com"), ("evil\u{06D4}com", "evil\u{06D4} com"),
    ("ｅｖｉｌ．ｃｏｍ", "evil. com"), ("bücher.example", "bücher. example"), ("пример.рф", "пример. рф"),
    ("例え.テスト", "例え. テスト"), ("evil.\u{202E}moc", "evil. moc"), ("evil.\ncom", "evil. com"),
  ]) func nothingIsTakenForALink(words: String, expected: String) {
    #expect(LinkFreeText.line(words, charactersMax: 50) == expected)
  }

  @Test(arguments: [
    "The Cabin", "Mum & Dad's", "Fish, chips!", "AC/DC", "Team #1", "St. Petersburg", "Wait...", "Årets påske", "家族",
    "👩‍👩‍👧 & co", "O'Neill",
  ]) func namesStayAsTheyAre(words: String) {
    #expect(LinkFreeText.line(words, charactersMax: 50) == words)
  }

  @Test func nothingIsLeftOfNothingAndTooMuchIsCut() {
    #expect(LinkFreeText.line("", charactersMax: 40) == nil)
    #expect(LinkFreeText.line(" \u{200B}\n ", charactersMax: 40) == nil)
    #expect(LinkFreeText.line(String(repeating: "a.", count: 100), charactersMax: 40)?.count ?? 0 <= 40)
  }
}
