import Database
import Foundation
import Support
import Testing
import Wire

/// Broadcasts and presence on every kind of topic that has them, for who may read it and nobody else.
@Suite struct ConversationTopicTests {
  private static let typing = #"{"type":"broadcast","event":"typing","payload":{"x":7}}"#
  private static let track = #"{"type":"presence","event":"track","payload":{"mood":"fine"}}"#

  private static func presence(_ key: String) -> String {
    #""private":true,"broadcast":{"ack":true},"presence":{"key":"\#(key)","enabled":true}"#
  }

  @Test(arguments: engines) func readersOfListsGroupsAndHuntsTalk(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let mallory = try fixture.person()
      let id = UserID.new(at: fixture.clock.now)
      for topic in ["lists:42", "social_groups:\(id)", "scavenger_hunts:\(id)"] {
        let (alice, bob) = (try fixture.reader(of: topic), try fixture.reader(of: topic))
        try await talk(fixture, topic, alice, bob, refused: mallory)
        // Whoever may read it no longer is no longer present, and says nothing more.
        let (hers, his) = (try await SocketClient.connect(fixture), try await SocketClient.connect(fixture))
        try await hers.join("realtime:\(topic)", alice.token, Self.presence("alice"))
        try await his.join("realtime:\(topic)", bob.token, Self.presence("bob"))
        #expect(try await his.call("realtime:\(topic)", "presence", Self.track).status == "ok")
        #expect(try await hers.nextPresenceDiff().payload["joins"]?["bob"] != nil, "\(topic)")
        fixture.owner.forbid(bob.id, topic)
        let removal = AccessChange(topic: topic, user: bob.id, mayRead: false)
        try await fixture.deliver([fixture.event(1, topic, name: "member_removed", access: [removal])])
        #expect(try await hers.nextPresenceDiff().payload["leaves"]?["bob"] != nil, "\(topic)")
        #expect(try await his.call("realtime:\(topic)", "broadcast", Self.typing).reason == "unmatched topic")
        #expect(try await his.join("realtime:\(topic)", bob.token).reason?.hasPrefix("Unauthorized:") == true)
      }
    }
  }

  /// The channel is the user's own: the devices of one person.
  @Test(arguments: engines) func theDevicesOfOneUserTalkAboutArrivalTimes(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.person(), try fixture.person())
      try await talk(fixture, "eta_shares:\(alice.id)", alice, alice, refused: bob)
    }
  }

  private func talk(
    _ fixture: EventsFixture, _ topic: String, _ alice: EventsFixture.Person, _ bob: EventsFixture.Person,
    refused mallory: EventsFixture.Person
  ) async throws {
    let (channel, path) = ("realtime:\(topic)", "/realtime/v1/api/broadcast/\(topic)/events/moved")
    let his = try await SocketClient.connect(fixture, version: "1.0.0")
    let (hers, theirs) = (try await SocketClient.connect(fixture), try await SocketClient.connect(fixture))
    #expect(try await hers.join(channel, alice.token, Self.presence("alice")).status == "ok", "\(topic)")
    #expect(try await his.join(channel, bob.token, Self.presence("bob")).status == "ok", "\(topic)")
    let refused = try await theirs.join(channel, mallory.token, Self.presence("mallory"))
    #expect(refused.reason?.hasPrefix("Unauthorized:") == true, "\(topic)")

    #expect(try await his.call(channel, "broadcast", Self.typing).status == "ok")
    #expect(try await hers.nextEvent().name == "typing")
    #expect(try await theirs.call(channel, "broadcast", Self.typing).reason == "unmatched topic")
    #expect(try await fixture.events.bearing(alice.token).post(path, ["x": 1]).status == 202)
    #expect(try await his.nextEvent().name == "moved")
    #expect(try await fixture.events.bearing(mallory.token).post(path, ["x": 1]).status == 403)

    #expect(try await his.call(channel, "presence", Self.track).status == "ok")
    let joined = try await hers.next { $0.event == "presence_diff" && $0.payload["joins"]?["bob"] != nil }
    #expect(joined.payload["joins"]?["bob"]?["metas"]?.array?.first?["mood"] == "fine")
    #expect(try await theirs.call(channel, "presence", Self.track).reason == "unmatched topic")
    try await his.close()
    _ = try await hers.next { $0.event == "presence_diff" && $0.payload["leaves"]?["bob"] != nil }
    // Nothing of it has reached whoever was refused.
    #expect(try await theirs.settled().allSatisfy { $0.event == "phx_close" })
    for socket in [hers, theirs] { try await socket.close() }
  }
}
