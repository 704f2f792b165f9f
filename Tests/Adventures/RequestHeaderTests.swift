import Database
import Foundation
import NIOHTTP1
import Support
import Testing

/// What clients say in headers, through the gateway.
@Suite struct RequestHeaderTests {
  @Test(arguments: engines) func headersReachTheTables(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let path = "/rest/v1/saved_places"
      let csv = alice.browser.with(["Content-Type": "text/csv", "Prefer": "return=representation"])
      let made = try await csv.send(.POST, path, body: Data("name,category\nBar,food\nCove,\nDock,NULL\n".utf8))
      #expect(made.status == 201 && made.list.map { $0.text("name") } == ["Bar", "Cove", "Dock"], "\(made.text)")
      #expect(made.list[1].text("category") == "" && made.list[2]["category"] is NSNull)

      let page = try await alice.browser.with(
        ["Range": "0-1", "Range-Unit": "items", "Prefer": "count=exact"]
      ).get("\(path)?select=name&order=name")
      #expect(page.status == 206 && page.headers.first(name: "content-range") == "0-1/3")
      #expect(page.text == #"[{"name":"Bar"},{"name":"Cove"}]"#)
      #expect(page.headers.first(name: "preference-applied") == "count=exact")
      let beyond = try await alice.browser.with(["Range": "5-9", "Range-Unit": "items", "Prefer": "count=exact"])
        .get("\(path)?select=name")
      #expect(beyond.status == 416 && beyond.string("code") == "PGRST103", "\(beyond.text)")

      let table = try await alice.browser.with(["Accept": "text/csv"]).get("\(path)?select=name&order=name.desc")
      #expect(table.text == "name\nDock\nCove\nBar")
      let stripped = try await alice.browser.with(["Accept": "application/vnd.pgrst.array+json;nulls=stripped"])
        .get("\(path)?select=name,category&name=eq.Dock")
      #expect(stripped.text == #"[{"name":"Dock"}]"#)
      let one = try await alice.browser.with(["Accept": "application/vnd.pgrst.object+json"])
        .get("\(path)?select=name&name=eq.Bar")
      #expect(one.text == #"{"name":"Bar"}"#)
      let profile = try await alice.browser.with(["Accept-Profile": "other"]).get(path)
      #expect(profile.status == 406 && profile.string("code") == "PGRST106", "\(profile.text)")
    }
  }
}
