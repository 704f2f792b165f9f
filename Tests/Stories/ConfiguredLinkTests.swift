import Foundation
import Support
import Testing

/// Links in answers are the texts that are configured, also where a `URL` would write them in another way.
@Suite struct ConfiguredLinkTests {
  private static let settings = [
    "PUBLIC_URL": "https://küche.example/%2F[a]", "SHARE_URL_BASE": "https://küche.example/ä%2F",
    "APP_STORE_URL": "https://apps.apple.com/de/app/käse/id42?a=%20",
    "INVITE_DEEP_LINK": "app://ü/{token}?app={app}%20", "CODE_DEEP_LINK": "app://ü?code={code}&next=https%3A%2F%2Fx",
  ]

  @Test func linksAreWhatIsConfigured() async throws {
    try await withStack(engines[0], Self.settings) { stack in
      let alice = try await stack.signIn("alice").browser
      let group = try await alice.post("/api/groups", ["name": "Us"]).string("id")
      let link = try await alice.post("/api/groups/\(group)/invites")
      let code = link.string("code")
      #expect(link.string("invite_url") == "https://küche.example/%2F[a]/i/\(code)")
      #expect(link.string("deep_link") == "app://ü?code=\(code)&next=https%3A%2F%2Fx")

      let collection = try await alice.post("/collections", ["name": "Marbles"])["data"] as? [String: Any]
      let shared = try await alice.post("/collections/\(collection?["id"] ?? "")/invites", ["role": "VIEW_ONLY"])
      let data = try #require(shared["data"] as? [String: Any], "\(shared.text)")
      #expect(data.text("deepLink") == "app://ü/\(data.text("token"))?app={app}%20")
      #expect(data.text("appStoreFallbackUrl") == "https://apps.apple.com/de/app/käse/id42?a=%20")

      let sent = try await alice.with(["Content-Type": "image/jpeg"])
        .send(.POST, "/api/photos/upload?group_id=\(group)", body: SamplePhotos.jpeg)
      let photo = try await alice.get("/api/photos/\(sent.string("photo_id"))")
      for name in ["url", "thumbnail_url"] {
        #expect(photo.string(name).hasPrefix("https://küche.example/%2F[a]/api/photos/"), "\(photo.text)")
      }
      let scene = try await alice.post(
        "/api/v1/timepoints/generate/sync",
        ["query": "The first flight", "visibility": "public", "generate_image": true])
      #expect(scene.string("share_url") == "https://küche.example/ä%2F/\(scene.string("slug"))", "\(scene.text)")
      #expect(scene.string("image_url").hasPrefix("https://küche.example/%2F[a]/api/v1/timepoints/"), "\(scene.text)")
    }
  }
}

extension [String: Any] {
  fileprivate func text(_ name: String) -> String { self[name] as? String ?? "" }
}
