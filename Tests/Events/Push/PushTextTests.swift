import Foundation
import Testing
import Wire

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

  @Test func aPayloadIsNeverTooLarge() throws {
    let body = String(repeating: "\u{1}", count: 2000)
    let own: [String: JSONValue] = ["event": .string("task_assigned"), "task_id": .integer(7)]
    let ids = own.merging(["long_id": .string(String(repeating: "x", count: 5000))]) { $1 }
    let small = try AlertDelivery.payload("Hello", badge: 1, thread: "list_id:7", own: own)
    let read = try JSON.decode(JSONValue.self, from: small)
    #expect(read["aps"]?["alert"]?["body"] == .string("Hello") && read["task_id"] == .integer(7))
    for (body, own) in [(body, own), ("Hello", ids), (body, ids)] {
      let payload = try AlertDelivery.payload(body, badge: 1, thread: String(repeating: "t", count: 9000), own: own)
      #expect(payload.count <= APNsNotification.payloadBytesMax)
      let read = try JSON.decode(JSONValue.self, from: payload)
      #expect(read["event"] == .string("task_assigned") && read["aps"]?["alert"]?["body"] != nil)
    }
  }
}
