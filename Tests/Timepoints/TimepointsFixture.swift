import AsyncHTTPClient
import Database
import Foundation
import NIOCore
import Support
import Wire

extension Browser.Reply {
  func object(_ name: String) -> [String: Any] { self[name] as? [String: Any] ?? [:] }
  func objects(_ name: String) -> [[String: Any]] { self[name] as? [[String: Any]] ?? [] }

  /// Of a whole scene.
  var characterNames: [String] {
    (object("characters")["characters"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
  }
}

extension SignedInUser {
  func generate(_ query: String, _ more: [String: any Sendable] = [:]) async throws -> Browser.Reply {
    try await browser.post("/api/v1/timepoints/generate/sync", more.merging(["query": query]) { $1 })
  }

  func balance() async throws -> Int { try await browser.get("/api/v1/credits/balance").int("balance") ?? -1 }

  func held() async throws -> Int { try await browser.get("/api/v1/credits/balance").int("held") ?? -1 }

  /// What the ledger says was spent, by type.
  func spent(_ type: String) async throws -> [(amount: Int, reference: String)] {
    try await browser.get("/api/v1/credits/history?limit=100").list
      .filter { $0["type"] as? String == type }
      .map { ($0["amount"] as? Int ?? 0, $0["reference_id"] as? String ?? "") }
  }
}

extension TestStack {
  /// Waits until all jobs and charges have ended, on a clock that runs faster.
  func settled() async throws {
    var looks = 0
    try await eventually("the end of all jobs and charges", within: .seconds(240)) {
      looks += 1
      // What is under way ends by itself. What waits, or was leased by a process that has died, needs another time; a
      // lease of thirty seconds lasts for some looks, so that whoever lives and has it is not overtaken each time.
      if looks > 20 { clock.advance(by: .seconds(5)) }
      let jobs = try await count("generation_job", in: "timepoints")
      let charges = try await count("charge where settled_at is null", in: "timepoints")
      return jobs == 0 && charges == 0
    }
  }

  /// Gives credits beyond those of the sign-up.
  func grant(_ amount: Int, to user: SignedInUser) async throws {
    let reply = try await gateway.with(["X-Admin-Key": Self.adminKey])
      .post("/api/v1/credits/admin/grant", ["user_id": user.id.description, "amount": amount])
    guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
  }
}

/// Reads server-sent events of a POST or GET over a real socket, one after the other.
struct TimepointStream {
  struct Event {
    let id: String
    let json: [String: Any]
    var name: String { json["event"] as? String ?? "" }
    var step: String { json["step"] as? String ?? "" }
    var progress: Int { json["progress"] as? Int ?? -1 }
    var data: [String: Any] { json["data"] as? [String: Any] ?? [:] }
    var text: String { json["data"] as? String ?? "" }
  }

  let status: Int
  let contentType: String?
  private var chunks: HTTPClientResponse.Body.AsyncIterator
  private var text = ""

  init(
    _ browser: Browser, _ path: String, body: [String: any Sendable]? = nil, lastEventID: String? = nil
  ) async throws {
    var request = HTTPClientRequest(url: browser.base + path)
    for (name, value) in browser.headers { request.headers.add(name: name, value: value) }
    if let lastEventID { request.headers.add(name: "last-event-id", value: lastEventID) }
    if let body {
      request.method = .POST
      request.headers.add(name: "content-type", value: "application/json")
      request.body = .bytes(ByteBuffer(data: try JSONSerialization.data(withJSONObject: body)))
    }
    let response = try await Browser.client.execute(request, timeout: .seconds(60))
    status = Int(response.status.code)
    contentType = response.headers.first(name: "content-type")
    chunks = response.body.makeAsyncIterator()
  }

  /// nil at the end of the stream.
  mutating func next() async throws -> Event? {
    while true {
      if let end = text.range(of: "\n\n") {
        let lines = text[..<end.lowerBound].split(separator: "\n")
        text = String(text[end.upperBound...])
        func field(_ name: String) -> String? {
          lines.first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
        }
        guard let data = field("data") else { continue }
        let json = try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any]
        return Event(id: field("id") ?? "", json: json ?? [:])
      }
      guard let chunk = try await chunks.next() else { return nil }
      text += String(buffer: chunk)
    }
  }

  mutating func all() async throws -> [Event] {
    var events: [Event] = []
    while let event = try await next() { events.append(event) }
    return events
  }
}
