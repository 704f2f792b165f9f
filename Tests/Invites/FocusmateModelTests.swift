import Clients
import Database
import Foundation
import Support
import Testing
import Wire

extension ListsApp {
  fileprivate struct Invite: Decodable {
    let id: Int
    let code: String
    let invite_url: String
    let role: String
    let uses_count: Int
    let usable: Bool
    let max_uses: Int?
    let expires_at: String?
    let created_at: String?
  }

  fileprivate struct OneInvite: Decodable {
    let invite: Invite
  }

  fileprivate struct Invites: Decodable {
    let invites: [Invite]
  }

  fileprivate struct Preview: Decodable {
    struct Invite: Decodable {
      struct List: Decodable {
        let id: Int
        let name: String
        let color: String?
      }

      struct Inviter: Decodable {
        let name: String
      }

      let code: String
      let role: String
      let list: List
      let usable: Bool
      let expired: Bool
      let exhausted: Bool
      let inviter: Inviter?
    }

    let invite: Invite
  }

  fileprivate struct Accepted: Decodable {
    let message: String?
    let list: List
    let membership: Membership
  }

  fileprivate struct Device: Decodable {
    let id: Int
  }
}

/// The lists app decodes every response about invites and devices.
@Suite struct FocusmateModelTests {
  @Test(arguments: engines) func itReadsEveryAnswerAboutInvites(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await stack.list(of: alice)
      let path = "/api/v1/lists/\(list)/invites"
      let terms: [String: any Sendable] = ["role": "editor", "max_uses": 2]
      let made = try await alice.browser.post(path, ["invite": terms]).read(ListsApp.OneInvite.self, 201).invite
      #expect(made.role == "editor" && made.max_uses == 2)
      #expect(try await alice.browser.get(path).read(ListsApp.Invites.self).invites.map(\.id) == [made.id])
      let preview = try await stack.gateway.get("/api/v1/invites/\(made.code)").read(ListsApp.Preview.self).invite
      #expect(preview.list.id == list && preview.inviter?.name == "alice")
      let accepted = try await bob.browser.post("/api/v1/invites/\(made.code)/accept").read(ListsApp.Accepted.self)
      #expect(accepted.list.id == list && accepted.list.role == "editor" && accepted.membership.role == "editor")
      let own = try await bob.browser.get("/api/v1/users/profile")
      #expect((own["user"] as? [String: Any])?["id"] as? Int == accepted.membership.user.id)
      let memberships = try await alice.browser.get("/api/v1/lists/\(list)/memberships")
      let ids = (memberships["memberships"] as? [[String: Any]])?.map { $0["id"] as? Int }
      #expect(ids == [accepted.membership.id])

      let carol = try await stack.signIn("carol")
      let invites = InvitesClient(in: stack.dependencies(of: "lists"))
      let waiting = try await invites.invite(
        .init(list: list, role: "viewer", invitedBy: alice.id, invitee: .user(carol.id)))
      #expect(
        try await carol.browser.get("/api/v1/invites").read(ListsApp.Invites.self).invites.map(\.id) == [
          waiting.number
        ])
      let joined = try await carol.browser.post("/api/v1/invites/\(waiting.number)/accept").read(
        ListsApp.Accepted.self)
      #expect(joined.membership.role == "viewer")
      // By the number, and by what an older app may have kept.
      #expect(try await alice.browser.delete("\(path)/\(made.id)").status == 204)
      #expect(try await alice.browser.delete("\(path)/\(made.id)").status == 409)
      #expect(try await alice.browser.delete("\(path)/999999").status == 404)
    }
  }

  @Test(arguments: engines) func itRegistersItsDeviceFlat(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let token = String(repeating: "0a1b", count: 16)
      let flat: [String: any Sendable] = [
        "apns_token": token, "bundle_id": "com.example.app", "platform": "ios", "device_name": "Alice's phone",
      ]
      let made = try await alice.browser.post("/api/v1/devices", flat)
      let device = try made.read(ListsApp.Device.self, 201)
      #expect(made.status == 201 && (made["device"] as? [String: Any])?["device_name"] as? String == "Alice's phone")
      let nested = try await alice.browser.post("/api/v1/devices", ["device": ["apns_token": token]])
      #expect(try nested.read(ListsApp.Device.self, 201).id == device.id)
      let wrong: [([String: any Sendable], String)] = [
        (["platform": "ios"], "apns_token"), ([:], "apns_token"), (["apns_token": "x"], "apns_token"),
        (["device": ["platform": "ios"]], "device.apns_token"), (["device": ["apns_token": "x"]], "device.apns_token"),
      ]
      for (body, field) in wrong {
        let refused = try await alice.browser.post("/api/v1/devices", body)
        #expect(refused.status == 422)
        #expect((refused["errors"] as? [[String: String]])?.map { $0["field"] } == [field], "\(body)")
      }
      let bob = try await stack.signIn("bob")
      #expect(try await bob.browser.delete("/api/v1/devices/\(device.id)").status == 404)
      #expect(try await alice.browser.delete("/api/v1/devices/\(device.id)").status == 204)
      #expect(try await alice.browser.delete("/api/v1/devices/\(device.id)").status == 404)
    }
  }
}
