import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Support
import Synchronization
import Testing
import Web
import Wire

/// A value that counts how often it is decoded.
private struct Counted: Decodable {
  @TaskLocal static var count: @Sendable () -> Void = {}
  let id: String

  private enum CodingKeys: CodingKey { case id }

  init(from decoder: any Decoder) throws {
    Self.count()
    id = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .id)
  }
}

private struct CountedBody: Decodable {
  let values: [Counted]
}

/// The errors for request bodies that cannot be decoded.
@Suite struct BodyTests {
  private struct Order: Decodable {
    struct Line: Decodable {
      let amount: Int
      let note: String?
    }

    enum Size: String, Decodable {
      case small, large
    }

    let id: UserID
    let count: Int
    let at: Date
    let role: CollectionRole
    let note: String?
    let lines: [Line]
    let isGift: Bool
    let size: Size?
    let last: [String: Int]
  }

  private func read<T: Decodable>(_ type: T.Type, _ body: Data) async throws -> T {
    let head = HTTPRequest(method: .post, scheme: "http", authority: "kith", path: "/")
    return try await Request(head: head, body: .init(buffer: ByteBuffer(data: body))).json(type)
  }

  private func refusal<T: Decodable>(_ type: T.Type, _ body: String) async throws -> Failure {
    do {
      _ = try await read(type, Data(body.utf8))
      throw Unexpected(reply: "it was read")
    } catch let failure as Failure { return failure }
  }

  @Test func everyFieldThatIsWrongIsNamedInItsOrder() async throws {
    let failure = try await refusal(
      Order.self,
      """
      {"id":"x","count":"1","at":"yesterday","role":"HUGE","note":7,"size":"medium","last":{"a":"b"},
       "lines":[{"amount":"1"},{"amount":2,"note":3},{}]}
      """)
    #expect(failure.code == "validation_error")
    #expect(
      failure.fields.map(\.field) == [
        "id", "count", "at", "role", "note", "lines.0.amount", "lines.1.note", "lines.2.amount", "isGift", "size",
        "last.a",
      ])
    #expect(failure.fields[1].message == "must be a whole number" && failure.fields[8].message == "is required")
    #expect(failure.message == "\(failure.fields[0].field) \(failure.fields[0].message)")
  }

  @Test func oneFieldThatIsWrongIsNamedAlone() async throws {
    struct Body: Decodable {
      let name: String
      let age: Int?
    }
    #expect(try await refusal(Body.self, #"{"name":7,"age":3}"#).fields.map(\.field) == ["name"])
    #expect(try await refusal(Body.self, #"{"age":null}"#).fields.map(\.field) == ["name"])
    #expect(try await refusal(Body.self, "[]").fields.map(\.field) == ["body"])
    #expect(try await read(Body.self, Data(#"{"name":"Ann"}"#.utf8)).name == "Ann")
  }

  /// A type may try several forms; only the last error counts.
  @Test func whatATypeTakesInSeveralFormsIsNamedOnlyWhenItTakesNone() async throws {
    struct Either: Decodable {
      let text: String

      init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        // `try?`: if it is no number it must be a string.
        text = try (try? value.decode(Int.self)).map(String.init) ?? value.decode(String.self)
      }
    }
    struct Body: Decodable {
      let first: Either
      let second: Either
      let third: Bool
    }
    let failure = try await refusal(Body.self, #"{"first":"a","second":[],"third":"no"}"#)
    #expect(failure.fields.map(\.field) == ["second", "third"])
  }

  @Test func aBodyMadeToCostTimeCostsLittle() async throws {
    struct Body: Decodable {
      let values: [Order]
    }
    let values = Array(repeating: #"{"id":1}"#, count: 7000).joined(separator: ",")
    let body = #"{"values":["# + values + "]}"
    #expect(body.utf8.count < 64 * 1024, "the premise: a body of this size is read")
    #expect((2...16).contains(try await refusal(Body.self, body).fields.count))
    // The invalid values come last, so that every round decodes all of it.
    let decoded = Mutex(0)
    let good = Array(repeating: #"{"id":"a"}"#, count: 4000), wrong = Array(repeating: #"{"id":1}"#, count: 16)
    let long = #"{"values":["# + (good + wrong).joined(separator: ",") + "]}"
    _ = try await Counted.$count.withValue({ decoded.withLock { $0 += 1 } }) {
      try await refusal(CountedBody.self, long)
    }
    #expect(decoded.withLock { $0 } < 10 * good.count)
    let deep = #"{"values":"# + String(repeating: "[", count: 500) + String(repeating: "]", count: 500) + "}"
    #expect(try await refusal(Body.self, deep).fields.count >= 1)
  }

  @Test func aRouteNamesAllThatIsWrong() async throws {
    try await withStack(.sqlite) { stack in
      let admin = stack.gateway.with(["X-Admin-Key": TestStack.adminKey])
      let reply = try await admin.post("/api/v1/credits/admin/grant", ["user_id": 7, "amount": "many"])
      #expect(reply.status == 422)
      let errors = reply["errors"] as? [[String: String]] ?? []
      #expect(Set(errors.compactMap { $0["field"] }) == ["user_id", "amount"])
      let details = (reply["error"] as? [String: Any])?["details"] as? [String: [String]] ?? [:]
      #expect(Set(details.keys) == ["user_id", "amount"])
      // The same for values that fail validation.
      let wrong: [String: any Sendable] = [
        "user_id": UUID().uuidString, "amount": 0, "description": String(repeating: "x", count: 501),
      ]
      #expect(try await faults(admin.post("/api/v1/credits/admin/grant", wrong)) == ["amount", "description"])
      let newcomer = [
        "email": "nobody", "password": "correct horse", "timezone": "Nowhere", "password_confirmation": "x",
      ]
      #expect(
        try await faults(stack.gateway.post("/api/v1/auth/sign_up", newcomer))
          == ["email", "password_confirmation", "timezone"])
      let alice = try await stack.signIn("alice").browser
      #expect(
        try await faults(alice.post("/api/groups/", ["name": "", "time_zone": "Nowhere"])) == ["name", "time_zone"])
      #expect(
        try await faults(
          alice.post("/api/v1/devices", ["platform": "web", "device_name": String(repeating: "x", count: 256)]))
          == ["apns_token", "device_name", "platform"])
    }
  }

  private func faults(_ reply: Browser.Reply) -> [String] {
    #expect(reply.status == 422)
    return (reply["errors"] as? [[String: String]] ?? []).compactMap { $0["field"] }.sorted()
  }

  @Test func bytesThatAreNoUTF8AreRefusedWhereverTheyStand() async throws {
    try await withStack(.sqlite) { stack in
      for (prefix, isRead) in [(#"{"refresh_token":""#, true), (#"{"refresh_token":"x","other":""#, false)] {
        for (bytes, status) in [
          (Array("ø".utf8), 401), ([0xFF], 400), ([0xC0, 0xAF], 400), ([0xED, 0xA0, 0x80], 400),
        ] {
          let body = Data(prefix.utf8) + Data(bytes) + Data(#""}"#.utf8)
          let reply = try await stack.gateway.send(.POST, "/api/v1/auth/refresh", body: body)
          #expect(reply.status == status, "\(bytes), read: \(isRead)")
          if status == 400 { #expect(reply.string("code") == "malformed_json") }
        }
      }
    }
  }
}
