import Clients
import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Web
import Wire

/// Services of neighbouring versions work together: a service is replaced while the others still run as they were.
///
/// What the services say to one another is recorded in `Tests/Fixtures/wire`. A change of a message has to be
/// understood by who knows only the recorded form, and the recorded form by the changed service. `KITH_RECORD_CALLS=1`
/// records new calls and members: from then on they stay.
@Suite struct ServiceCallTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let folder = root.appending(path: "Tests/Fixtures/wire")
  private static let isRecording = ProcessInfo.processInfo.environment["KITH_RECORD_CALLS"] != nil

  /// What only operators call.
  private static let ofOperators: Set<String> = [
    "credits GET /internal/credits/audit", "credits GET /internal/billing/inbox",
    "credits POST /internal/billing/inbox/{id}/retry", "timepoints GET /internal/timepoints/failed",
  ]

  private static func recorded() throws -> [ServiceCall] {
    try serviceCallSteps.indices.map { index in
      try JSON.decode(ServiceCall.self, from: Data(contentsOf: file(index)))
    }
  }

  /// Some calls are made twice.
  private static func file(_ index: Int) -> URL {
    let name = serviceCallSteps[index].name
    let count = serviceCallSteps[..<index].count { $0.name == name }
    return folder.appending(path: count == 0 ? "\(name).json" : "\(name)-\(count + 1).json")
  }

  @Test func everyRouteBetweenServicesIsRecorded() throws {
    var routes: Set<String> = []
    for service in ServiceName.bundled {
      let file = Self.root.appending(path: "Services/\(service.rawValue.capitalized)/openapi.yaml")
      var path: Substring?
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        if let match = line.firstMatch(of: /^  (\/\S*):/) { path = match.output.1 }
        guard let path, path.hasPrefix("/internal/"), let match = line.firstMatch(of: /^    (get|post|put|delete):/)
        else { continue }
        routes.insert("\(service.rawValue) \(match.output.1.uppercased()) \(path)")
      }
    }
    // The premise: they were found.
    #expect(routes.count > 40)
    let called = Set(serviceCallSteps.map { "\($0.service.rawValue) \($0.route)" })
    #expect(routes.subtracting(called).subtracting(Self.ofOperators).sorted() == [])
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(Set(files) == Set(serviceCallSteps.indices.map { Self.file($0).lastPathComponent }))
  }

  /// New caller and old service: it is sent all that it was sent before. Old caller and new service: it is answered all
  /// that it was answered before.
  @Test(arguments: engines) func nothingIsLeftOutOfWhatWasSaid(_ engine: Engine) async throws {
    try await withNames(engine) { stack, names in
      try await withProxies(stack) { proxies, dependencies in
        for (index, step) in serviceCallSteps.enumerated() {
          let call = try names.named(try await made(step, names, proxies, dependencies))
          if Self.isRecording { try Self.write(call, to: Self.file(index)) }
          let old = try JSON.decode(ServiceCall.self, from: Data(contentsOf: Self.file(index)))
          let title = "\(step.service.rawValue) \(step.route)"
          #expect(call.method == old.method && Self.shape(call.path, of: step) && Self.shape(old.path, of: step))
          #expect(Set(old.query.keys).isSubset(of: call.query.keys), "\(title)")
          #expect(Shape.missing(of: old.body, in: call.body) == [], "\(title): the request")
          #expect(call.status == old.status, "\(title)")
          #expect(Shape.missing(of: old.reply, in: call.reply) == [], "\(title): the reply")
        }
      }
    }
  }

  /// Old caller and new service: what it sent before is accepted, and answered as before.
  @Test(arguments: engines) func whatWasSentIsAccepted(_ engine: Engine) async throws {
    try await withNames(engine) { stack, names in
      for (step, call) in zip(serviceCallSteps, try Self.recorded()) {
        let call = try names.filled(call)
        var headers = stack.with(key: step.caller)
        if step.route == "POST /internal/groups/{group}/members" { headers["Idempotency-Key"] = "add-carol" }
        let query = call.query.map { name, value in
          "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }
        let reply = try await Browser(stack.dependencies.serviceAddresses.urls(of: step.service)[0]).with(headers).send(
          HTTPMethod(rawValue: call.method), call.path + (query.isEmpty ? "" : "?" + query.joined(separator: "&")),
          body: try call.body?.data)
        let title = "\(step.service.rawValue) \(step.route)"
        #expect(reply.status == call.status, "\(title): \(reply.text)")
        let new = reply.body.isEmpty ? nil : try JSON.decode(JSONValue.self, from: reply.body)
        #expect(Shape.missing(of: call.reply, in: new) == [], "\(title)")
        for (name, member) in step.gives { names.set(name, to: reply.string(member)) }
      }
    }
  }

  /// New caller and old service: what it answered before is understood.
  @Test func whatWasAnsweredIsUnderstood() async throws {
    try await withNames(.sqlite) { stack, names in
      try await withProxies(stack) { proxies, dependencies in
        for (step, call) in zip(serviceCallSteps, try Self.recorded()) {
          for name in step.gives.keys { names.set(name, to: UUID().uuidString.lowercased()) }
          let (proxy, call) = (proxies[step.service], try names.filled(call))
          proxy?.answer(with: call)
          // What is no success is not decoded.
          if (200..<300).contains(call.status) {
            await #expect(throws: Never.self, "\(step.service.rawValue) \(step.route)") {
              try await step.call(dependencies(step.caller), names)
            }
          }
          proxy?.answer(with: nil)
        }
      }
    }
  }

  @Test func aShapeMissesWhatIsGone() {
    let old: JSONValue = ["id": "a", "count": 1, "tags": [["name": "x", "color": nil]], "note": nil]
    #expect(Shape.missing(of: old, in: old.with(["more": true])) == [])
    #expect(Shape.missing(of: old, in: old.with(["id": 1])) == ["id"])
    #expect(Shape.missing(of: old, in: old.with(["tags": [["color": nil]]])) == ["tags.0.name"])
    #expect(Shape.missing(of: old, in: old.with(["tags": []])) == ["tags.0"])
    #expect(Shape.missing(of: old, in: ["id": "a"]) == ["count", "tags"])
    #expect(Shape.missing(of: old, in: nil) == [""])
    #expect(Shape.missing(of: nil, in: old) == [])
  }

  // MARK: Making calls

  private func made(
    _ step: ServiceCallStep, _ names: CallNames, _ proxies: [ServiceName: ServiceCallProxy],
    _ dependencies: (String) -> Dependencies
  ) async throws -> ServiceCall {
    _ = proxies[step.service]?.takeCalls()
    try await step.call(dependencies(step.caller), names)
    let calls = proxies[step.service]?.takeCalls() ?? []
    guard let call = calls.first, calls.count == 1 else { throw Unexpected(reply: "\(step.route): \(calls.count)") }
    for (name, member) in step.gives { names.set(name, to: call.reply?[member]?.text ?? "") }
    return call
  }

  /// People, and things that belong to them, by their names.
  private func withNames(_ engine: Engine, _ body: (TestStack, CallNames) async throws -> Void) async throws {
    try await withStack(engine) { stack in
      var ids: [String: String] = [:]
      for name in ["alice", "bob", "carol", "dave"] { ids[name] = "\(try await stack.signIn(name).id)" }
      let alice = try await stack.signIn("alice").browser
      ids["group"] = try await alice.post("/api/groups", ["name": "The Cabin"]).string("id")
      ids["code"] = try await alice.get("/api/groups/\(ids["group"] ?? "")").string("invite_code")
      let list = try await alice.post("/api/v1/lists", ["list": ["name": "Groceries"]])
      ids["list"] = ((list["list"] as? [String: Any])?["id"] as? Int).map(String.init)
      let collection = try await alice.post("/collections", ["name": "Marbles"])["data"] as? [String: Any]
      let number = (collection?["id"] as? String)?.dropFirst("col_".count) ?? ""
      ids["collection"] = CollectionID(String(number))?.description
      let hunt = try await alice.send(
        .POST, "/rest/v1/scavenger_hunts", body: Data(#"{"title": "Around the lake"}"#.utf8))
      ids["hunt"] = hunt.list.first?["id"] as? String
      guard ids.count == 9, !ids.values.contains("") else { throw Unexpected(reply: "\(ids)") }
      try await body(stack, CallNames(ids))
    }
  }

  /// - Parameter body: gets the dependencies of a service, whose calls go through the proxies.
  private func withProxies(
    _ stack: TestStack, _ body: ([ServiceName: ServiceCallProxy], (String) -> Dependencies) async throws -> Void
  ) async throws {
    let real = stack.dependencies
    let addresses = ServiceAddresses(real.settings)
    let proxies = Dictionary(
      uniqueKeysWithValues: ServiceName.bundled.map {
        ($0, ServiceCallProxy(before: Browser(real.serviceAddresses.urls(of: $0)[0])))
      })
    try await running(proxies.values.map { $0.server() }) {
      for (service, proxy) in proxies { addresses.set(service, to: try await proxy.url) }
      try await body(proxies) { caller in
        Dependencies(
          real.settings.overlaid(["SERVICE_KEY": TestStack.keys[caller] ?? ""]), serviceAddresses: addresses,
          logger: real.logger, now: real.now)
      }
    }
  }

  private static func write(_ call: ServiceCall, to file: URL) throws {
    let object = try JSONSerialization.jsonObject(with: JSON.encode(call))
    let text = try JSONSerialization.data(
      withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    try (text + Data("\n".utf8)).write(to: file)
  }

  /// Whether the path is one of the step's route.
  private static func shape(_ path: String, of step: ServiceCallStep) -> Bool {
    let parts = step.route.split(separator: " ").last?.split(separator: "/") ?? []
    let segments = path.split(separator: "/")
    return parts.count == segments.count && zip(parts, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
  }
}

/// Which members JSON has, and of which kinds.
private enum Shape {
  /// The paths of what `old` has and `new` has not, or as another kind. What was null may be anything.
  static func missing(of old: JSONValue?, in new: JSONValue?, at path: [String] = []) -> [String] {
    guard let old, old != .null else { return [] }
    let here = [path.joined(separator: ".")]
    switch (old, new) {
    case (.object(let members), .object(let others)):
      return members.sorted { $0.key < $1.key }.flatMap {
        missing(of: $0.value, in: others[$0.key], at: path + [$0.key])
      }
    case (.array(let elements), .array(let others)):
      return elements.first.map { missing(of: $0, in: others.first, at: path + ["0"]) } ?? []
    case (.string, .string), (.bool, .bool): return []
    case (.integer, .integer), (.number, .number), (.integer, .number), (.number, .integer): return []
    default: return here
    }
  }
}
