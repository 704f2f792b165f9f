import Foundation
import Testing

@testable import Events

/// The texts of notifications.
@Suite struct PushTextTests {
  @Test func everyLanguageHasEveryText() throws {
    let all = try PushTexts().all
    #expect(Set(all.keys) == ["de", "en", "es", "fr", "pt"])
    let english = try #require(all["en"])
    for (language, texts) in all {
      #expect(Set(texts.keys) == Set(english.keys), "\(language)")
      for (key, text) in texts {
        func parts(_ text: String) -> Set<String> { Set(text.matches(of: /\{[a-z]+\}/).map { String($0.0) }) }
        #expect(parts(text) == parts(english[key] ?? ""), "\(language) \(key)")
      }
    }
    for rule in PushRule.all { #expect(english[rule.text] != nil, "\(rule.text)") }
  }

  @Test(arguments: [
    ("de-AT", "Kim hat dir „Milch“ zugewiesen"), ("pt-BR", "Kim atribuiu “Milch” a você"),
    ("fr", "Kim vous a confié « Milch »"), ("es_MX", "Kim te ha asignado «Milch»"), ("en", "Kim assigned you “Milch”"),
    ("tr", "Kim assigned you “Milch”"),
  ]) func itIsInTheLanguageOfTheAccount(locale: String, text: String) throws {
    #expect(try PushTexts().text("task_assigned", locale: locale, actor: "Kim", subject: "Milch") == text)
  }

  @Test func namesAreCutAndNeverTemplates() throws {
    let texts = try PushTexts()
    #expect(
      texts.text("task_nudged", locale: nil, actor: "{subject}", subject: "x\ny") == "{subject} reminds you of “x y”")
    #expect(texts.text("task_nudged", locale: nil) == "Somebody reminds you of a task")
    let long = texts.text("task_nudged", locale: nil, actor: "Kim", subject: String(repeating: "👩‍👩‍👧‍👦", count: 500))
    #expect(long.utf8.count < 400 && long.hasSuffix("…”"))
  }
}
