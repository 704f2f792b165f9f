import Database
import Foundation
import Support
import Testing
import Wire

@testable import Timepoints

@Suite struct PersonalDataTests {
  @Test(arguments: engines) func onlyAuthMayEraseAndExport(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let path = "/internal/users/\(alice.id)/data"
      #expect(try await stack.timepoints.get(path).status == 403)
      #expect(try await stack.timepoints.with(stack.with(key: "lists")).delete(path).status == 403)
      #expect(try await stack.timepoints.with(stack.with(key: "auth")).get(path).status == 200)
      #expect(try await stack.timepoints.with(stack.with(key: "auth")).delete(path).status == 204)
    }
  }

  @Test(arguments: engines) func anExportHasEverythingAndAnErasureLeavesNothing(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (query, words) = ("The secret meeting of Zanzibar", "Quetzalcoatl whispers")
      let made = try await alice.generate(query, ["generate_image": true, "visibility": "private"])
      let other = try await bob.generate("Something else")
      let people = made.object("characters")["characters"] as? [[String: Any]] ?? []
      let name = try #require(people.first?["name"] as? String)
      let chat = try await alice.browser.post(
        "/api/v1/interactions/\(made.string("id"))/chat", ["character": name, "message": words, "save_session": true])
      #expect(chat.status == 200)
      let inside = stack.timepoints.with(stack.with(key: "auth"))
      let path = "/internal/users/\(alice.id)/data"
      let export = try await inside.get(path)
      #expect(export.objects("timepoints").compactMap { $0["query"] as? String } == [query])
      #expect(export.objects("interaction_sessions").count == 1 && export.text.contains(words))
      #expect(try await inside.delete(path).status == 204)
      for table in ["timepoint", "character_chat", "generation_job", "charge", "generation_limit"] {
        let column = ["timepoint", "generation_job", "generation_limit"].contains(table) ? "owner_id" : "user_id"
        let rows: SQL = "\(SQL(stringLiteral: table)) where \(SQL(stringLiteral: column)) = \(alice.id)"
        #expect(try await stack.count(rows, in: "timepoints") == 0, "\(table)")
      }
      #expect(try await inside.get(path).objects("timepoints").isEmpty)
      #expect(try await bob.browser.get("/api/v1/timepoints/\(other.string("id"))").status == 200)
      if engine == .sqlite {
        #expect(try ResidualData.inFiles([query, words], of: stack.testDatabase) == [])
      } else {
        #expect(try await ResidualData.inRows([query, words], of: stack.testDatabase) == [])
      }
    }
  }

  @Test(arguments: engines) func operatorsSeeWhatHasFailed(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let path = "/internal/timepoints/failed"
      #expect(try await stack.timepoints.get(path).status == 403)
      let reply = try await stack.timepoints.with(["X-Admin-Key": TestStack.adminKey]).get(path)
      #expect(reply.status == 200 && reply.objects("failed").isEmpty && reply.objects("unfinished").isEmpty)
    }
  }
}
