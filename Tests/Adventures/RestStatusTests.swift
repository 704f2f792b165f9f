import Database
import Foundation
import NIOHTTP1
import Support
import Testing

/// Refusals as clients of PostgREST get them, over HTTP.
@Suite struct RestStatusTests {
  private static let refusals: [(method: HTTPMethod, path: String, json: String?, status: Int, code: String)] = [
    (.GET, "saved_places?id=eq.1", nil, 400, "22P02"), (.GET, "saved_places?latitude=eq.north", nil, 400, "22P02"),
    (.POST, "saved_places", #"{"name": "x", "latitude": "north"}"#, 400, "22P02"),
    (.POST, "saved_places", #"{"address": "x"}"#, 400, "23502"),
    (.POST, "saved_places", #"{"name": ""}"#, 400, "23514"), (.POST, "saved_places", "{", 400, "PGRST102"),
    (.POST, "saved_places", #"{"name": "x", "nothing": 1}"#, 400, "PGRST204"),
    (.PATCH, "saved_places?name=eq.x", #"{"nothing": 1}"#, 400, "PGRST204"),
    (.GET, "nothing", nil, 404, "PGRST205"), (.GET, "saved_place", nil, 404, "PGRST205"),
    (.GET, "rpc/nothing", nil, 404, "PGRST202"), (.POST, "rpc/nothing", "{}", 404, "PGRST202"),
    (.GET, "saved_places?nothing=eq.1", nil, 400, "42703"), (.GET, "saved_places?name=eqq.1", nil, 400, "PGRST100"),
    (.GET, "saved_places?select=people(*)", nil, 400, "PGRST200"),
    (.GET, "saved_places?limit=-1", nil, 416, "PGRST103"),
  ]

  @Test(arguments: engines) func eachHasItsStatusAndItsCode(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      for refusal in Self.refusals {
        let reply = try await alice.rest(refusal.method, refusal.path, refusal.json)
        #expect(reply.status == refusal.status && reply.string("code") == refusal.code, "\(refusal): \(reply.text)")
        #expect(reply.headers.first(name: "proxy-status") == "PostgREST; error=\(refusal.code)", "\(refusal)")
        guard refusal.method == .GET, refusal.status != 404 else { continue }
        // An answer to HEAD has no body, from which clients could read the code.
        let head = try await alice.rest(.HEAD, refusal.path)
        #expect(head.status == refusal.status && head.body.isEmpty, "\(refusal): \(head.status)")
        #expect(head.headers.first(name: "proxy-status") == "PostgREST; error=\(refusal.code)", "\(refusal)")
      }
      #expect(try await alice.rows("saved_places").isEmpty)
    }
  }

  @Test(arguments: engines) func aTokenIsMissingOrExpired(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let unknown = try await stack.gateway.get("/rest/v1/saved_places")
      #expect(unknown.status == 401 && unknown.string("code") == "PGRST301", "\(unknown.text)")
      stack.clock.advance(by: .seconds(2 * 86_400))
      let expired = try await alice.rest(.GET, "saved_places")
      #expect(expired.status == 401 && expired.string("code") == "PGRST303", "\(expired.text)")
      #expect(expired.string("message") == "JWT expired")
      #expect(expired.contractCode == "AUTH_REQUIRED")
      #expect(expired.headers.first(name: "www-authenticate") != nil)
    }
  }
}
