import Foundation
import Testing

@testable import KithClient

/// What the messages of a WebSocket mean.
@Suite struct ChannelConversationTests {
  /// A conversation that has joined a topic of which 5 events have happened.
  private func joined(from position: EventPosition = EventPosition()) -> ChannelConversation {
    var conversation = ChannelConversation(from: position)
    let join = conversation.join(["lists:1"], token: "t")[0]
    let outcomes = conversation.outcomes(.reply(to: join, ["seq": 5, "epoch": "e1"]))
    #expect(outcomes == [.update(.connected)])
    return conversation
  }

  private func event(_ number: Int, in topic: String = "lists:1") -> ChannelConversation.Outcome {
    .update(
      .event(
        LiveEvent(
          topic: topic, name: "task_changed", number: number, id: "id-\(number)", payload: ["task_id": .int(number)])))
  }

  @Test func eventsComeOnceAndAHoleIsAskedForAgain() {
    var conversation = joined()
    #expect(conversation.position.number(of: "lists:1") == 5)
    #expect(conversation.outcomes(.event(6)) == [event(6)])
    #expect(conversation.outcomes(.event(6)) == [])
    #expect(conversation.outcomes(.event(5)) == [])
    #expect(conversation.outcomes(.event(8)) == [.lost])
    #expect(conversation.position.number(of: "lists:1") == 6)
  }

  @Test func aReaderGoesOnWhereItHasStopped() {
    var first = joined()
    _ = first.outcomes(.event(6))
    var second = ChannelConversation(from: first.position)
    let join = second.join(["lists:1"], token: "t")[0]
    #expect(join.payload["config"] == ["private": true, "since": 6, "epoch": "e1"])
    #expect(join.payload["access_token"] == "t")
    // The number of the topic is that of the last event: those in between come first.
    #expect(second.outcomes(.reply(to: join, ["seq": 9, "epoch": "e1"])) == [.update(.connected)])
    #expect(second.outcomes(.event(7)) == [event(7)])
  }

  @Test func whatComesBeforeAllChannelsAreJoinedWaits() {
    var conversation = ChannelConversation(from: EventPosition())
    let joins = conversation.join(["lists:1", "lists:2"], token: "t")
    #expect(Set(joins.map(\.ref)).count == 2)
    #expect(conversation.outcomes(.reply(to: joins[0], ["seq": 5, "epoch": "e1"])) == [])
    #expect(conversation.outcomes(.event(6)) == [])
    #expect(conversation.outcomes(.reply(to: joins[1], ["seq": 0, "epoch": "e1"])) == [.update(.connected), event(6)])
    #expect(conversation.outcomes(.event(1, in: "lists:2")) == [event(1, in: "lists:2")])
  }

  @Test func afterAGapTheNextNumberIsThatOfTheServer() {
    var conversation = joined()
    let gap = PhoenixMessage(
      topic: "lists:1", event: "broadcast",
      payload: ["event": "gap", "type": "broadcast", "payload": ["oldest": 120, "seq": 310, "epoch": "e2"]])
    #expect(conversation.outcomes(gap) == [.update(.gap(topic: "lists:1"))])
    #expect(conversation.position.marks["lists:1"] == .init(number: 310, epoch: "e2"))
    #expect(conversation.outcomes(.event(311)) == [event(311)])
  }

  @Test func aBroadcastOfAnotherReaderHasNoNumber() {
    var conversation = joined()
    let broadcast = PhoenixMessage(
      topic: "lists:1", event: "broadcast", payload: ["event": "typing", "type": "broadcast", "payload": ["by": "bob"]])
    #expect(
      conversation.outcomes(broadcast)
        == [.update(.message(LiveMessage(topic: "lists:1", name: "typing", payload: ["by": "bob"])))])
    #expect(conversation.position.number(of: "lists:1") == 5)
  }

  @Test(arguments: [
    ("InvalidJWTToken: Token has expired", ChannelConversation.Outcome.tokenRefused),
    ("ConnectionRateLimitReached: Too many connected users", .lost), ("RealtimeRestarting: standby", .lost),
    ("UnableToSubscribe: not available", .lost), ("", .lost),
    ("Unauthorized: You do not have permissions", .denied(reason: "Unauthorized: You do not have permissions")),
  ])
  func aRefusedJoin(reason: String, outcome: ChannelConversation.Outcome) {
    var conversation = ChannelConversation(from: EventPosition())
    let join = conversation.join(["lists:1"], token: "t")[0]
    #expect(conversation.outcomes(.reply(to: join, ["reason": .string(reason)], isOK: false)) == [outcome])
  }

  @Test(arguments: [
    ("Token has expired", ChannelConversation.Outcome.tokenRefused), ("The session has ended", .tokenRefused),
    ("You no longer have permission", .ended(reason: "You no longer have permission")), ("", .lost),
  ])
  func aClosedChannel(reason: String, outcome: ChannelConversation.Outcome) {
    var conversation = joined()
    if !reason.isEmpty {
      let system = PhoenixMessage(
        topic: "lists:1", event: "system",
        payload: ["status": "error", "message": .string(reason), "extension": "system", "channel": "lists:1"])
      #expect(conversation.outcomes(system) == [])
    }
    #expect(
      conversation.outcomes(PhoenixMessage(joinRef: "1", ref: "1", topic: "lists:1", event: "phx_close")) == [outcome])
    #expect(conversation.outcomes(PhoenixMessage(joinRef: "0", topic: "lists:1", event: "phx_close")) == [])
    #expect(conversation.outcomes(PhoenixMessage(topic: "lists:9", event: "phx_close")) == [])
    #expect(conversation.outcomes(PhoenixMessage(topic: "lists:1", event: "phx_error")) == [.lost])
  }

  @Test func aHeartbeatThatIsNotAnsweredMeansADeadConnection() throws {
    var conversation = joined()
    let one = conversation.heartbeat()
    let first = try #require(one)
    #expect(first.topic == "phoenix" && first.event == "heartbeat" && conversation.isWaiting)
    #expect(conversation.outcomes(.reply(to: first)) == [])
    let two = conversation.heartbeat()
    let second = try #require(two)
    _ = conversation.outcomes(.reply(to: first))
    let third = conversation.heartbeat()
    #expect(conversation.isWaiting && third == nil && second.ref != first.ref)
  }

  @Test func aNewTokenGoesToEveryChannel() {
    var conversation = ChannelConversation(from: EventPosition())
    let joins = conversation.join(["lists:1", "lists:2"], token: "old")
    let messages = conversation.refresh(token: "new")
    #expect(messages.map(\.event) == ["access_token", "access_token"] && messages.map(\.topic) == joins.map(\.topic))
    #expect(messages.map(\.joinRef) == joins.map(\.ref) && messages[0].payload == ["access_token": "new"])
  }

  @Test func messagesAreArraysOfFive() throws {
    let message = PhoenixMessage(
      joinRef: "1", topic: "lists:1", event: "x", payload: ["a": "\"ö\n", "b": [1, 2.5, nil]])
    let text = try message.text()
    #expect(PhoenixMessage(text: text) == message && text.hasPrefix(#"["1",null,"#))
    for text in ["", "{}", "[]", "[1,2,3,4,5]", #"["1","1","t","e"]"#, "ping"] {
      #expect(PhoenixMessage(text: text) == nil)
    }
  }

  @Test func aPositionIsThatOfBothWays() {
    var position = EventPosition()
    #expect(position.lastEventID(of: ["lists:1"]) == nil && position.lastEventID(of: ["lists:1", "lists:2"]) == nil)
    position.move(to: "19", in: ["lists:1"])
    #expect(position.lastEventID(of: ["lists:1"]) == "19")
    #expect(position.lastEventID(of: ["lists:1", "lists:2"]) == "lists:1=19")
    position.move(to: "lists:1=20,users:a-b=7,broken", in: ["lists:1", "users:a-b"])
    #expect(position.lastEventID(of: ["lists:1", "users:a-b"]) == "lists:1=20,users:a-b=7")
    // Numbers of another epoch are no longer those of the log.
    position.move(to: "lists:1=21,users:a-b=7,epoch=e1", in: ["lists:1", "users:a-b"])
    #expect(position.marks["lists:1"] == .init(number: 21, epoch: "e1"))
    #expect(position.lastEventID(of: ["lists:1"]) == "lists:1=21,epoch=e1")
    #expect(position.lastEventID(of: ["lists:1", "users:a-b"]) == "lists:1=21,users:a-b=7,epoch=e1")
    position.move(to: "lists:1=22,epoch=e2,users:a-b=8,epoch=e1", in: ["lists:1", "users:a-b"])
    let both = "lists:1=22,epoch=e2,users:a-b=8,epoch=e1"
    #expect(position.lastEventID(of: ["lists:1", "users:a-b"]) == both)
    position.move(to: 5, in: "lists:2")
    #expect(position.lastEventID(of: ["lists:2", "lists:1", "users:a-b"]) == both + ",lists:2=5")
    #expect(position.number(of: "USERS:A-B") == 8)
  }

  @Test func whatWasHeldHasItsOwnPositions() {
    var conversation = ChannelConversation(from: EventPosition())
    let joins = conversation.join(["lists:1", "lists:2"], token: "t")
    #expect(conversation.receive(.reply(to: joins[0], ["seq": 5, "epoch": "e1"])).isEmpty)
    #expect(conversation.receive(.event(6)).isEmpty && conversation.receive(.event(7)).isEmpty)
    let told = conversation.receive(.reply(to: joins[1], ["seq": 3, "epoch": "e2"]))
    #expect(told.map(\.outcome) == [.update(.connected), event(6), event(7)])
    // An app that is ended after one of them goes on with the next.
    #expect(told.map { $0.position.number(of: "lists:1") } == [5, 6, 7])
    #expect(told.allSatisfy { $0.position.number(of: "lists:2") == 3 })
  }

  @Test func whereMoreIsHeldThanFitsTheStateIsToBeRead() {
    var conversation = ChannelConversation(from: EventPosition())
    let joins = conversation.join(["lists:1", "lists:2"], token: "t")
    _ = conversation.receive(.reply(to: joins[0], ["seq": 0, "epoch": "e1"]))
    for number in 1...1500 { #expect(conversation.receive(.event(number)).isEmpty) }
    let told = conversation.receive(.reply(to: joins[1], ["seq": 0, "epoch": "e1"]))
    #expect(told.first?.outcome == .update(.connected) && told[1].outcome == .update(.gap(topic: "lists:1")))
    #expect(told.count < 1000 && told.last?.outcome == event(1500))
    #expect(conversation.position.number(of: "lists:1") == 1500)
    #expect(conversation.outcomes(.event(1501)) == [event(1501)])
  }
}

extension ChannelConversation {
  fileprivate mutating func outcomes(_ message: PhoenixMessage) -> [Outcome] { receive(message).map(\.outcome) }
}
