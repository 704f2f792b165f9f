import Database
import Foundation
import NIOHTTP1
import Support
import Testing

/// Changes of more rows than an answer has.
@Suite struct ManyRowTests {
  @Test(arguments: engines) func eachChangedRowIsTold(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      let many = Array(repeating: #"{"name": "x"}"#, count: 1000).joined(separator: ",")
      #expect(try await alice.rest(.POST, "saved_places", "[\(many)]", prefer: "return=minimal").status == 201)
      try await alice.insert("saved_places", #"{"name": "x"}"#)
      let changed = try await alice.rest(.PATCH, "saved_places?name=eq.x", #"{"name": "y"}"#)
      #expect(changed.status == 200 && changed.list.count == 1000, "\(changed.status)")
      #expect(try await alice.rest(.DELETE, "saved_places?name=eq.y").status == 204)
      let topic = "saved_places:\(alice.id)"
      try await eventually("the events", within: .seconds(240)) { receiver.events(on: topic).count >= 3003 }
      for name in ["saved_place_added", "saved_place_changed", "saved_place_removed"] {
        let ids = receiver.events(on: topic).filter { $0.name == name }.compactMap { $0.payload["place_id"] }
        #expect(ids.count == 1001 && Set(ids).count == 1001, "\(name)")
      }
    }
  }
}
