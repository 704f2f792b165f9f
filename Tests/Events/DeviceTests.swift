import Database
import Foundation
import Support
import Testing
import Wire

/// Registration of devices for push notifications.
@Suite struct DeviceTests {
  private let token = String(repeating: "0a1B", count: 16)

  @Test(arguments: engines) func aDeviceIsRegisteredOnceHoweverOften(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let body = ["device_token": token, "platform": "ios"]
      let made = try await atOnce(20) { _ in try await alice.browser.post("/api/devices/register", body) }
      #expect(made.allSatisfy { $0.status == 200 && $0.bool("success") == true })
      let list = try await alice.browser.get("/api/devices/")
      let devices = try #require(list["devices"] as? [[String: Any]])
      #expect(devices.map { $0["device_token"] as? String } == [token.lowercased()])
      #expect(try await alice.browser.delete("/api/devices/unregister?device_token=\(token)").bool("success") == true)
      #expect((try await alice.browser.get("/api/devices")["devices"] as? [Any])?.isEmpty == true)
    }
  }

  @Test(arguments: engines) func aPhoneThatChangesHandsTellsItsNewOwner(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let named = ["device": ["apns_token": token, "device_name": "Alice's phone", "os_version": "26.1"]]
      #expect(try await alice.browser.post("/api/v1/devices", named).status == 201)
      #expect(try await bob.browser.delete("/api/devices/unregister?device_token=\(token)").status == 200)
      #expect((try await alice.browser.get("/api/devices")["devices"] as? [Any])?.count == 1)
      let taken = try await bob.browser.post("/api/v1/devices", ["device": ["apns_token": token]])
      #expect((taken["device"] as? [String: Any])?["device_name"] is NSNull)
      #expect((try await alice.browser.get("/api/devices")["devices"] as? [Any])?.isEmpty == true)
      #expect((try await bob.browser.get("/api/devices")["devices"] as? [Any])?.count == 1)
    }
  }

  @Test(arguments: engines) func anAppTellsOfItsDeviceAndForgetsIt(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      func register() async throws -> String {
        let made = try await alice.browser.post(
          "/api/v1/devices",
          ["device": ["apns_token": token, "bundle_id": "com.example.app", "platform": "ios", "app_version": "1.2"]])
        #expect(made.status == 201)
        let device = try #require(made["device"] as? [String: Any])
        #expect(device["bundle_id"] as? String == "com.example.app")
        #expect((device["created_at"] as? String)?.contains(".") == true)
        return device["id"] as? String ?? ""
      }
      let id = try await register()
      #expect(try await register() == id)
      #expect(try await alice.browser.delete("/api/v1/devices/\(id)").status == 204)
      #expect(try await alice.browser.delete("/api/v1/devices/\(id)").status == 404)
      _ = try await register()
      #expect(try await alice.browser.delete("/api/v1/devices/\(token)").status == 204)
      _ = try await register()
      #expect(try await alice.browser.delete("/api/v1/devices?apns_token=\(token)").status == 204)
      _ = try await register()
      let body = try JSONSerialization.data(withJSONObject: ["device": ["apns_token": token]])
      #expect(try await alice.browser.send(.DELETE, "/api/v1/devices", body: body).status == 204)
      #expect(try await alice.browser.delete("/api/v1/devices").status == 422)
      #expect((try await alice.browser.get("/api/devices")["devices"] as? [Any])?.isEmpty == true)
    }
  }

  @Test(arguments: engines) func theOldestOfTooManyAreForgotten(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      for index in 0..<25 {
        let token = String(repeating: "0", count: 62) + String(index + 10)
        _ = try await alice.browser.post("/api/devices/register", ["device_token": token, "platform": "android"])
      }
      let devices = try await alice.browser.get("/api/devices")["devices"] as? [[String: Any]] ?? []
      let endings = devices.compactMap { ($0["device_token"] as? String)?.suffix(2) }.map(String.init)
      let last: [String] = (15..<35).reversed().map { String($0) }
      #expect(endings == last)
    }
  }

  @Test(arguments: [
    ("abc", "ios", "device_token"), (String(repeating: "g", count: 64), "ios", "device_token"),
    (String(repeating: "a", count: 65), "ios", "device_token"), (String(repeating: "a", count: 64), "web", "platform"),
  ]) func whatIsNoDeviceIsRefused(token: String, platform: String, field: String) async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let refused = try await alice.browser.post(
        "/api/devices/register", ["device_token": token, "platform": platform])
      #expect(refused.status == 422)
      #expect((refused["errors"] as? [[String: Any]])?.first?["field"] as? String == field)
      #expect(try await stack.gateway.get("/api/devices").status == 401)
    }
  }
}
