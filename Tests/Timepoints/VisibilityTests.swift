import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Timepoints

/// Who sees which timepoint, and who may change it.
@Suite struct VisibilityTests {
  private func ids(_ reply: Browser.Reply) -> Set<String> {
    Set(reply.objects("items").compactMap { $0["id"] as? String })
  }

  @Test(arguments: engines) func aPrivateSceneIsItsOwnersAlone(_ engine: Engine) async throws {
    try await withStack(engine, ["SHARE_URL_BASE": "https://example.com/t"]) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let secret = try await alice.generate("A private moment", ["visibility": "private"])
      let open = try await alice.generate("A public moment", ["request_context": ["a": 1]])
      #expect(secret.status == 200 && open.status == 200)
      let (hidden, shown) = (secret.string("id"), open.string("id"))
      #expect(secret["share_url"] is NSNull)
      #expect(open.string("share_url") == "https://example.com/t/\(open.string("slug"))")
      for other in [bob.browser, stack.gateway] {
        for path in ["", "/characters"] {
          #expect(try await other.get("/api/v1/timepoints/\(hidden)\(path)").status == 403)
          #expect(try await other.get("/api/v1/timepoints/\(shown)\(path)").status == 200)
        }
        #expect(try await other.get("/api/v1/timepoints/slug/\(secret.string("slug"))").status == 403)
        #expect(try await other.get("/api/v1/timepoints/slug/\(open.string("slug"))").status == 200)
        #expect(ids(try await other.get("/api/v1/timepoints")) == [shown])
        #expect(ids(try await other.get("/api/v1/timepoints?visibility=private")) == [])
        let seen = try await other.get("/api/v1/timepoints/\(shown)")
        #expect(seen["request_context"] is NSNull && seen["credits_charged"] is NSNull)
      }
      #expect(ids(try await alice.browser.get("/api/v1/timepoints")) == [hidden, shown])
      #expect(ids(try await alice.browser.get("/api/v1/timepoints?visibility=private")) == [hidden])
      #expect(try await alice.browser.get("/api/v1/timepoints").int("total") == 2)
      #expect(try await stack.gateway.get("/api/v1/timepoints").int("total") == 1)
      #expect(try await stack.gateway.get("/api/v1/timepoints?status=failed").int("total") == 0)
      #expect(ids(try await alice.browser.get("/api/v1/users/me/timepoints?status=nonsense")) == [hidden, shown])
      #expect(try await stack.gateway.get("/api/v1/users/me/timepoints").status == 401)
      #expect(
        try await bob.browser.post("/api/v1/interactions/\(hidden)/chat", ["character": "a", "message": "b"]).status
          == 403)
      #expect(try await bob.browser.post("/api/v1/temporal/\(hidden)/next").status == 403)
    }
  }

  @Test(arguments: engines) func onlyItsOwnerChangesAndDeletesIt(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let id = try await alice.generate("The fall of the Berlin wall").string("id")
      let path = "/api/v1/timepoints/\(id)"
      func setVisibility(_ browser: Browser, _ value: String) async throws -> Browser.Reply {
        try await browser.send(.PATCH, "\(path)/visibility", json: ["visibility": value])
      }
      #expect(try await setVisibility(bob.browser, "private").status == 403)
      #expect(try await setVisibility(stack.gateway, "private").status == 401)
      #expect(try await setVisibility(alice.browser, "secret").status == 422)
      #expect(try await setVisibility(alice.browser, "private").string("visibility") == "private")
      #expect(try await bob.browser.get(path).status == 403)
      #expect(try await setVisibility(alice.browser, "public").string("visibility") == "public")
      #expect(try await bob.browser.post("\(path)/export").status == 403)
      #expect(try await alice.browser.post("\(path)/export").status == 200)
      #expect(try await bob.browser.delete(path).status == 403)
      #expect(try await bob.browser.delete("\(path)?permanent=true").status == 403)
      #expect(try await alice.browser.delete(path).bool("deleted") == true)
      #expect(try await alice.browser.get(path).status == 404)
      #expect(try await stack.count("timepoint", in: "timepoints") == 1)
      #expect(try await alice.browser.delete("\(path)?permanent=true").bool("deleted") == true)
      #expect(try await stack.count("timepoint", in: "timepoints") == 0)
      #expect(try await stack.count("generation_event", in: "timepoints") == 0)
    }
  }

  @Test(arguments: engines) func withoutSignInEverythingIsEverybodysAndFree(_ engine: Engine) async throws {
    try await withStack(engine, ["AUTH_ENABLED": "false"]) { stack in
      let made = try await stack.gateway.post("/api/v1/timepoints/generate/sync", ["query": "The first flight"])
      #expect(made.status == 200 && made.int("credits_charged") == 0, "\(made.text)")
      let path = "/api/v1/timepoints/\(made.string("id"))"
      let hidden = try await stack.gateway.send(.PATCH, "\(path)/visibility", json: ["visibility": "private"])
      #expect(hidden.string("visibility") == "private")
      #expect(try await stack.gateway.get(path).status == 200)
      #expect(try await stack.gateway.get("/api/v1/timepoints").int("total") == 1)
      let body: [String: any Sendable] = [
        "character": made.characterNames[0], "message": "Who are you?", "save_session": true,
      ]
      let chat = try await stack.gateway.post("/api/v1/interactions/\(made.string("id"))/chat", body)
      #expect(chat.status == 200, "\(chat.text)")
      let session = "/api/v1/interactions/session/\(chat.string("session_id"))"
      #expect(try await stack.gateway.get(session).objects("messages").count == 2)
      #expect(try await stack.gateway.post("/api/v1/temporal/\(made.string("id"))/next").status == 200)
      #expect(try await stack.gateway.get("/api/v1/users/me/timepoints").int("total") == 2)
      #expect(try await stack.count("charge", in: "timepoints") == 0)
      #expect(try await stack.gateway.delete("\(path)?permanent=true").status == 200)
    }
  }

  @Test func signInCanBeSwitchedOffInDevelopmentOnly() throws {
    #expect(try Access(Settings(["AUTH_ENABLED": "false"])).isOpen)
    for stage in ["staging", "production"] {
      #expect(throws: StartFailure.self) { try Access(Settings(["AUTH_ENABLED": "false", "ENVIRONMENT": stage])) }
      #expect(try Access(Settings(["ENVIRONMENT": stage])).isOpen == false)
    }
  }
}
