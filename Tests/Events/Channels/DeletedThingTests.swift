import Database
import Foundation
import Support
import Testing
import Wire

/// Who reads a thing is told that it was deleted, on its channel, on one that is no topic, and on a stream, before
/// these are closed: all services, real sockets through the gateway.
@Suite struct DeletedThingTests {
  private static let channel = "any name"
  private static let everything = #"{"event":"*","schema":"*"}"#

  @Test(arguments: engines) func itsReadersAreToldBeforeTheirChannelsClose(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let alice = try await ChannelListener(stack.signIn("alice"), stack)
      let bob = try await ChannelListener(stack.signIn("bob"), stack, version: "1.0.0")
      let mallory = try await ChannelListener(stack.signIn("mallory"), stack)
      for listener in [alice, bob, mallory] {
        let config = #""postgres_changes":[\#(Self.everything)]"#
        let reply = try await listener.socket.join("realtime:\(Self.channel)", listener.user.access, config)
        #expect(reply.status == "ok")
      }

      let app = alice.user.browser
      let list = try await app.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
      let path = "/api/v1/lists/\(list)"
      try await app.done(
        .POST, "\(path)/memberships", ["membership": ["user_identifier": "bob@example.com", "role": "editor"]])
      try await expect("list_deleted", "lists", id: .integer(list), on: "lists:\(list)", [alice, bob], stack) {
        try await app.done(.DELETE, path)
      }

      let group = try await app.done(.POST, "/api/groups", ["name": "The Cabin"]).string("id")
      try await stack.addMember(bob.user, in: try #require(GroupID(group)), by: alice.user)
      let topic = "social_groups:\(group)"
      try await expect("group_closed", "social_groups", id: .string(group), on: topic, [alice, bob], stack) {
        try await app.done(.POST, "/api/groups/\(group)/close")
      }

      let reply = try await app.done(.POST, "/collections", ["name": "Rocks"])
      let made = try #require((reply["data"] as? [String: Any])?["id"] as? String)
      let collection = "collections:\(try #require(CollectionID(made, prefix: .collection)))"
      try await expect("collection_deleted", nil, id: .null, on: collection, [alice], stack) {
        try await app.done(.DELETE, "/collections/\(made)")
      }
      #expect(try await mallory.socket.settled().filter { $0.event == "postgres_changes" }.isEmpty)
    }
  }

  /// - Parameters:
  ///   - table: in which a row is deleted; nil for none.
  ///   - readers: the last of them asks for the event on the channel of the topic, the others for the row.
  private func expect(
    _ name: String, _ table: String?, id: JSONValue, on topic: String, _ readers: [ChannelListener], _ stack: TestStack,
    afterwards delete: () async throws -> Void
  ) async throws {
    for reader in readers.dropLast() { try await reader.join(topic, since: nil, postgresChanges: Self.everything) }
    try await readers.last?.join(topic, since: nil)
    let gateway = Browser(stack.gateway.base)
    var stream = try await EventStreamClient(gateway, "topic=\(topic)", token: readers[0].user.access)
    #expect(try await stream.nextBlock() != nil)
    try await delete()
    for reader in readers {
      #expect(try await reader.end(of: topic)?.contains("no longer have permission") == true)
      guard let table else { continue }
      try await eventually("the row") { reader.deletions(on: Self.channel, of: table) == [id] }
    }
    #expect(readers.last?.names(on: topic).last == name)
    for reader in readers.dropLast() { #expect(reader.deletions(on: topic, of: table ?? "") == [id]) }
    var names: [String] = []
    while let event = try await stream.next() { names.append(event.name) }
    #expect(names == [name, "system"])
  }
}

extension ChannelListener {
  fileprivate func deletions(on topic: String, of table: String) -> [JSONValue] {
    changes(on: topic).filter { $0["table"]?.string == table && $0["type"]?.string == "DELETE" }
      .compactMap { $0["old_record"]?["id"] }
  }
}
