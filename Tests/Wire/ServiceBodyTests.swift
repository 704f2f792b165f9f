import Foundation
import Support
import Testing
import Wire

/// Bodies between services that are not left to their coders.
@Suite struct ServiceBodyTests {
  private static let user = #""01a1fd2c-bd4b-7c1e-8a42-5d3f0b9e6a17""#

  private static let delivery = """
    {"more":1,"events":[
      {"id":"01A1FD2C-bd4b-7c1e-8a42-5d3f0b9e6a18","topics":["lists:42","users:7"],"name":"task_changed",
       "payload":{"number":1.0,"text":"é\\n","list":[null,true,10]},"at":"2026-11-21T08:15:30.123Z",
       "change":{"schema":"public","table":"tasks","type":"UPDATE","record":{"id":1},"old_record":{"id":null}},
       "access":[{"topic":"lists:42","user_id":\(user),"may_read":true}],"hidden_from":[\(user)],
       "push":{"recipients":[\(user)],"readers_of":"lists:42","actor":\(user),"subject":"Milk",
         "expires_at":"2026-11-21T08:15:30Z"}},
      {"id":"01a1fd2c-bd4b-7c1e-8a42-5d3f0b9e6a19","topics":[],"name":"a","payload":{},"at":"2026-11-21T08:15:30Z"},
      {"id":"01a1fd2c-bd4b-7c1e-8a42-5d3f0b9e6a20","topics":["lists:42"],"name":"a","payload":{},
       "at":"2026-11-21T08:15:30Z","change":{"schema":"public","table":"lists","type":"UPDATE","record":{}},"changes":[
         {"schema":"public","table":"tasks","type":"DELETE","old_record":{"id":-1}},
         {"schema":"public","table":"tasks","type":"INSERT","record":{"id":2,"title":"\\"Milk\\""}}]}]}
    """

  @Test func aDeliveryIsReadAsItIsDecoded() throws {
    try EncodedFeedBatch.expectReadsWhatItDecodes(
      Self.delivery, least: (read: 50, refused: 100),
      isRefused: { batch in batch.events.contains { !$0.hasObjectPayload || !$0.hasObjectRecords }
      },
      as: { try $0.events.map { try $0.decoded() } })
    let events = try EncodedFeedBatch(json: Array(Self.delivery.utf8)).events
    #expect(events.count == 3 && events[0].push?.subject == "Milk" && events[1].push == nil)
    #expect(try events.map { try $0.decoded() } == JSON.decode(FeedBatch.self, from: Data(Self.delivery.utf8)).events)
    #expect(events[0].payload == #"{"number":1.0,"text":"é\n","list":[null,true,10]}"# && events[0].topics.count == 2)
  }

  /// What is passed on unread is JSON that every client reads, on one line.
  @Test func whatIsNotCertainToBePlainIsDecoded() throws {
    let whole = #"{"events":[{"id":\#(Self.user),"topics":["a:1","a:1"],"name":"a","payload":"#
    let end = #","at":"2026-11-21T08:15:30.123Z"}]}"#
    for payload in [
      #"{"a": 1}"#, "{\"a\":1\n}", #"{"a":"\u0000"}"#, #"{"a":"\u00e9"}"#, #"{"a":1e3}"#, #"{"a":1E3}"#,
      #"{"a":\#(String(repeating: "1", count: 40))}"#,
      #"{"a":\#(String(repeating: "[", count: 70))\#(String(repeating: "]", count: 70))}"#,
    ] {
      let text = Array((whole + payload + end).utf8)
      #expect(JSON.readValue(EncodedFeedBatch.self, from: text) == nil, "\(payload)")
      let event = try #require(try JSON.decode(EncodedFeedBatch.self, from: Data(text)).events.first)
      #expect(!event.payload.contains { " \n".contains($0) } && event.topics == ["a:1"])
      #expect(try event.payloadValue() == JSON.decode(JSONValue.self, from: Data(payload.utf8)), "\(payload)")
    }
    for payload in [
      "{", "{\"a\"}", "{\"a\":}", "{\"a\":01}", "{\"a\":1.}", "{\"a\":-}", "{\"a\":\"\t\"}", "{\"a\":\"\\x\"}",
      "{\"a\":tru}", "{\"a\":[1,]}", "{\"a\":1,}", "{\"a\":\"}", "{a:1}", "{\"a\":1}}", "{\"a\":[1}", "",
    ] {
      let text = Data((whole + payload + end).utf8)
      #expect(throws: DecodingError.self, "\(payload)") { try JSON.decode(EncodedFeedBatch.self, from: text) }
    }
  }

  @Test func recordsAndPayloadsThatAreNoObjectsAreNoted() throws {
    let event = FeedEvent(id: .new(at: Date()), topics: ["a:1"], name: "a", payload: .integer(1), at: Date())
    #expect(try !EncodedFeedEvent(event).hasObjectPayload && EncodedFeedEvent(event).hasObjectRecords)
    let row = RowChange(table: "rows", type: .update, record: .object([:]), oldRecord: .integer(1))
    let rows = FeedEvent(id: event.id, topics: [], name: "a", payload: .object([:]), at: event.at, changes: [row])
    #expect(try EncodedFeedEvent(rows).hasObjectPayload && !EncodedFeedEvent(rows).hasObjectRecords)
  }

  @Test func peopleAreReadAsTheyAreDecoded() throws {
    try People.expectReadsWhatItDecodes(
      """
      {"people":[
        {"id":\(Self.user),"number":7,"name":"Anna \\"Maria\\" \\u00e9","email":"anna@example.com","phone":"+4712345678",
         "locale":"nb-NO","time_zone":"Europe/Oslo","is_proven":true,"more":[1]},
        {"id":"01A1FD2C-bd4b-7c1e-8a42-5d3f0b9e6a18","number":-1}]}
      """, least: (read: 30, refused: 80))
    try PeopleQuery.expectReadsWhatItDecodes(
      #"{"ids":[\#(Self.user),\#(Self.user)],"phones":["+4712345678"],"more":1}"#, least: (read: 10, refused: 30))
  }

  @Test func peopleAreWrittenAsTheyAreEncoded() throws {
    try People.expectWritesWhatItEncodes()
    try Person.expectWritesWhatItEncodes()
    try PeopleQuery.expectWritesWhatItEncodes()
  }

  @Test func peopleThatAreEncodedAreReadAgain() throws {
    try People.expectReadsWhatItEncodes()
    try PeopleQuery.expectReadsWhatItEncodes()
  }

  @Test func spendsAreReadAndResultsWrittenAsTheirCodersDo() throws {
    try SpendCredits.expectReadsWhatItDecodes(
      """
      {"user_id":\(Self.user),"cost":5,"transaction_type":"refund","description":"A scene","reference_id":"7",
       "reference_type":"timepoint","idempotency_key":"one","creates_debt":true,"more":[1]}
      """, least: (read: 30, refused: 40))
    try SpendCredits.expectReadsWhatItEncodes()
    try CreditTransactionResult.expectWritesWhatItEncodes()
  }

  /// What a tree is refused for, the decoder decides.
  @Test func theDecoderReadsWhatNoTreeIsMadeOf() throws {
    let nested = String(repeating: "[", count: 70) + String(repeating: "]", count: 70)
    let whole = #"{"id":\#(Self.user),"number":7,"name":"Anna"}"#
    let person = try JSON.decode(Person.self, from: Data(whole.utf8))
    for (member, other) in [
      (#""number":7"#, #""number":7.0"#), (#""name":"Anna""#, #""name":"Anna","name":"Eva""#),
      (#""name":"Anna""#, #""name":"Anna","more":"\u0000""#), (#""name":"Anna""#, #""name":"Anna","more":\#(nested)"#),
    ] {
      let text = Data(whole.replacing(member, with: other).utf8)
      #expect(JSON.readValue(Person.self, from: Array(text)) == nil)
      let decoded = try JSON.decode(Person.self, from: text)
      #expect(try decoded == JSON.decodeByDecoder(Person.self, from: text) && decoded.number == person.number)
    }
  }
}
