import Foundation
import Testing

@testable import KithClient

/// Times, paths and streams.
@Suite struct WireTests {
  @Test func timesHaveAFractionOrNot() {
    #expect(Date(rfc3339: "2025-10-14T21:12:03.693Z")?.rfc3339 == "2025-10-14T21:12:03.693Z")
    #expect(Date(rfc3339: "2025-10-14T21:12:03Z")?.timeIntervalSince1970 == 1_760_476_323)
    #expect(Date(rfc3339: "yesterday") == nil)
    for millisecond in 0..<1000 {
      let text = "2025-10-14T21:12:03.\(String(1000 + millisecond).suffix(3))Z"
      #expect(Date(rfc3339: text)?.rfc3339 == text)
    }
  }

  @Test func anIDFromOutsideNamesNothingElse() {
    let id = "../users/me?x=1#"
    #expect(("/api/groups/\(id)" as Path).text == "/api/groups/..%2Fusers%2Fme%3Fx%3D1%23")
  }

  @Test func aTimeZoneHasTheNameThatTheServerKnows() {
    #expect(TimeZone.gmt.ianaName == "UTC")
    #expect(TimeZone(secondsFromGMT: 7200)?.ianaName == "Etc/GMT-2")
    #expect(TimeZone(identifier: "Europe/Oslo")?.ianaName == "Europe/Oslo")
  }

  @Test func anUnknownCodeIsKept() {
    #expect(FailureCode("group_full") == .known(.groupFull))
    #expect(FailureCode("from_the_future") == .other("from_the_future"))
    #expect(FailureCode("from_the_future").text == "from_the_future")
  }

  @Test(arguments: [1, 2, 3, 7, 1000]) func eventsAreReadFromAnyPieces(size: Int) throws {
    let text =
      "id: 1\n\n: a comment\n\nevent: task_changed\r\nid: 2\r\ndata: {\"a\":\r\ndata: \"ö\"}\r\n\r\ndata:x\n\nda"
    let bytes = Data(text.utf8)
    var parser = ServerSentEventParser()
    var events: [ServerSentEventParser.Event] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      events += try parser.add(bytes[start..<min(start + size, bytes.count)])
    }
    #expect(events.map(\.name) == ["", "task_changed", ""])
    #expect(events.map(\.id) == ["1", "2", "2"])
    #expect(events.map(\.data) == ["", "{\"a\":\n\"ö\"}", "x"])
  }

  @Test(arguments: ["data: ", ""]) func anEventIsOfALimitedSize(start: String) {
    var parser = ServerSentEventParser()
    #expect(throws: NoAnswer.self) {
      for _ in 0..<5000 { _ = try parser.add(Data((start + String(repeating: "x", count: 1000)).utf8)) }
    }
    var lines = ServerSentEventParser()
    #expect(throws: NoAnswer.self) {
      for _ in 0..<5000 { _ = try lines.add(Data(("data: " + String(repeating: "x", count: 1000) + "\n").utf8)) }
    }
  }

  @Test func anAnswerIsOfALimitedSize() async throws {
    let (client, _) = try await KithClient.scripted { _, _ in
      HTTPResponse(head: .init(status: 200), body: Data(count: 64 * 1024 * 1024 + 1))
    }
    let failure = await #expect(throws: KithFailure.self) { try await client.auth.exportedData() }
    #expect(failure == .undecodable("the answer has more than 64 MB"))
  }
}
