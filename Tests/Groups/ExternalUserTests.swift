import Foundation
import Support
import Testing

/// Access to the groups service with tokens of an external issuer.
@Suite struct GroupsExternalUserTests {
  @Test func aBearerOfAnOutsideIssuerIsOneOfOurs() async throws {
    try await withIssuer { issuer in
      try await withStack(.sqlite, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { stack in
        let bearer = try issuer.token(at: stack.clock.now)
        let alice = stack.groups.bearing(bearer)
        let made = try await alice.post("/api/groups", ["name": "Ours"])
        #expect(made.status == 200, "\(made.text)")
        let user = try await stack.gateway.bearing(bearer).get("/api/v1/auth/me").string("id")
        let group = try await stack.gateway.bearing(bearer).get("/api/groups/\(made.string("id"))")
        let members = group["members"] as? [[String: Any]]
        #expect(members?.map { $0["id"] as? String } == [user])

        let bob = stack.groups.bearing(try issuer.token("user_bob", at: stack.clock.now))
        #expect(try await bob.get("/api/groups/\(made.string("id"))").status == 404)
        for wrong in [
          try issuer.token(audience: "other", at: stack.clock.now), try issuer.token(at: stack.clock.now - 3600),
          String(bearer.dropLast(4)) + "AAAA",
        ] {
          #expect(try await stack.groups.bearing(wrong).get("/api/groups").status == 401)
        }
      }
    }
  }
}
