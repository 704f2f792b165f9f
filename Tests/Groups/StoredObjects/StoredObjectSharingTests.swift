import Database
import Foundation
import Hummingbird
import NIOCore
import Support
import Synchronization
import Testing
import Web
import Wire

@testable import Groups

/// Files that other services show, and that end with what names them.
@Suite struct StoredObjectSharingTests {
  /// Adventures, as far as groups asks it: who sees which photo.
  private final class FakeAdventures: Sendable {
    let shown = Mutex<Set<String>>([])
    let questions = Mutex(0)
    let listening = ListeningPort()

    func server() -> some ApplicationProtocol {
      let router = Router()
      router.post("/internal/adventures/shown-photo") { [self] request, _ -> Response in
        guard request.headers[.serviceKey] == TestStack.keys["groups"] else { return Response(status: .forbidden) }
        let body = try await request.body.collect(upTo: 4096)
        let query = try JSON.decode(ShownPhotoQuery.self, from: Data(buffer: body))
        questions.withLock { $0 += 1 }
        return .exactJSON(ShownPhoto(is_shown: shown.withLock { $0.contains("\(query.photo) \(query.viewer)") }))
      }
      return loopbackServer(router, listening)
    }
  }

  @Test(arguments: engines) func whoSeesASubmissionReadsItsPhoto(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let name = "photos/\(alice.id)/1.jpg"
      let path = "/storage/v1/object/\(name)"
      #expect(try await alice.store(SamplePhotos.jpeg, as: name).status == 200)
      // No submission names it.
      #expect(try await bob.browser.get(path).status == 404)
      let adventures = FakeAdventures()
      try await running([adventures.server()]) {
        stack.dependencies.serviceAddresses.set(
          .adventures, to: "http://127.0.0.1:\(try await adventures.listening.number)")
        #expect(try await bob.browser.get(path).status == 404)
        #expect(adventures.questions.withLock { $0 } == 1)
        adventures.shown.withLock { _ = $0.insert("\(name) \(bob.id)") }
        #expect(try await bob.browser.get(path).status == 200)
        let signed = try await bob.link(to: name).string("signedURL")
        #expect(try await stack.gateway.get("/storage/v1" + signed).status == 200)
        // Seeing is not changing, and another file is not asked for by its name alone.
        #expect(try await bob.remove(["\(alice.id)/1.jpg"]).list.isEmpty)
        #expect(try await bob.store(SamplePhotos.jpeg, as: name).status == 403)
        #expect(try await bob.browser.get(path.replacing("1.jpg", with: "2.jpg")).status == 404)
        // Who does not see it any more cannot read it by an old link either.
        adventures.shown.withLock { $0 = [] }
        try await eventually("the end of the link") {
          try await stack.gateway.get("/storage/v1" + signed).status == 404
        }
        #expect(try await alice.browser.get(path).status == 200)
      }
      // Whether it is shown is not known while adventures is away, or has no such route.
      for base in ["http://127.0.0.1:1", stack.lists.base] {
        stack.dependencies.serviceAddresses.set(.adventures, to: base)
        let unknown = try await bob.browser.get(path)
        #expect(unknown.status == 503 && unknown.headers.first(name: "cache-control") == "no-store", "\(unknown.text)")
        #expect(unknown.body.range(of: Data([0xFF, 0xD8, 0xFF])) == nil)
      }
    }
  }

  @Test(arguments: engines) func filesEndWithTheRowThatNamesThem(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      for user in [alice, bob] {
        #expect(try await user.store(SamplePhotos.jpeg, as: "photos/\(user.id)/1.jpg").status == 200)
      }
      let names = [alice, bob].map { "photos/\($0.id)/1.jpg" } + ["avatars/\(alice.id)/none.jpg"]
      let body: [String: any Sendable] = ["owner": alice.id.description, "names": names]
      for key in ["lists", "plain", "gateway"] {
        let refused = try await stack.groups.with(stack.with(key: key)).post("/internal/storage/delete", body)
        #expect(refused.status == 403, "\(key)")
      }
      #expect(try await alice.browser.post("/internal/storage/delete", body).status == 404)
      for deleted in [1, 0] {
        let reply = try await stack.groups.with(stack.with(key: "adventures")).post("/internal/storage/delete", body)
        #expect(reply.status == 200 && reply.int("deleted") == deleted, "\(reply.text)")
      }
      #expect(try await alice.browser.get("/storage/v1/object/photos/\(alice.id)/1.jpg").status == 404)
      #expect(try await bob.browser.get("/storage/v1/object/photos/\(bob.id)/1.jpg").status == 200)
      let wrong = try await stack.groups.with(stack.with(key: "adventures"))
        .post("/internal/storage/delete", ["owner": alice.id.description, "names": ["photos/../1.jpg"]])
      #expect(wrong.status == 422)
    }
  }

  @Test(arguments: engines) func whoIsForgottenLeavesNoFile(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      for user in [alice, bob] {
        for bucket in ["photos", "avatars"] {
          #expect(try await user.store(SamplePhotos.jpeg, as: "\(bucket)/\(user.id)/1.jpg").status == 200)
        }
      }
      let auth = stack.groups.with(stack.with(key: "auth"))
      let path = "/internal/users/\(alice.id)/data"
      let exported = try await auth.get(path)
      let files = exported["files"] as? [[String: Any]] ?? []
      #expect(files.map { $0["name"] as? String } == ["avatars", "photos"].map { "\($0)/\(alice.id)/1.jpg" })
      #expect(stack.photoFiles.count == 8)
      for _ in 0..<2 { #expect(try await auth.delete(path).status == 204) }
      #expect(try await stack.gateway.get("/storage/v1/object/public/avatars/\(alice.id)/1.jpg").status == 404)
      #expect(try await stack.gateway.get("/storage/v1/object/public/avatars/\(bob.id)/1.jpg").status == 200)
      try await eventually("the end of the bytes") { stack.photoFiles.count == 4 }
      #expect(try await stack.count("stored_object_use", in: "groups") == 1)
      try await eventually("the end of the rows") { try await stack.count("discarded_file", in: "groups") == 0 }
    }
  }
}
