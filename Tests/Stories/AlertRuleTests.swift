import Foundation
import Support
import Testing

/// The alerts of `deploy/compose/alerts.yml` are about metrics that there are.
@Suite struct AlertRuleTests {
  @Test func everyAlertIsAboutMetricsThatThereAre() async throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let rules = try String(contentsOf: root.appending(path: "deploy/compose/alerts.yml"), encoding: .utf8)
    let document = try String(contentsOf: root.appending(path: "docs/operations.md"), encoding: .utf8)
    for alert in rules.matches(of: /alert: (\w+)/).map({ String($0.output.1) }) {
      #expect(document.contains("`\(alert)`"), "\(alert) is not in the document")
    }
    // Two names that differ in a word.
    let named = ["outbox", "inbox"].map { rules.replacing("(outbox|inbox)", with: $0) }.joined()
    let names = Set(named.matches(of: /\b(kith|process)_[a-z_]+/).map { String($0.output.0) })
    #expect(names.count > 12)
    try await withStack(engines[0], TestStack.eventsURL) { stack in
      let alice = try await stack.signIn("alice")
      #expect(try await alice.browser.get("/api/v1/credits/balance").status == 200)
      var metrics = ""
      for browser in [stack.gateway] + stack.services { metrics += try await browser.get("/metrics").text }
      let known = Set(
        metrics.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.prefix { $0 != "{" && $0 != " " } })
      // A counter with labels has no sample before something is counted.
      let declared = Set(metrics.matches(of: /# TYPE ([a-z_]+) counter/).map(\.output.1))
      #expect(names.filter { !known.union(declared).contains(Substring($0)) }.sorted() == [])
    }
  }
}

extension TestStack {
  fileprivate var services: [Browser] {
    [auth, invites, groups, lists, credits, events, adventures, timepoints].map { $0.with(with(key: "plain")) }
  }
}
