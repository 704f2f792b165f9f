import Foundation
import StrictHTTP
import Support
import Testing
import Web

@testable import Gateway

/// The OpenAPI documents are complete and contain exactly the public operations.
@Suite struct OpenAPITests {
  @Test func everythingThatIsDocumentedAndPublicIsInTheMergedDocumentAndNothingElse() async throws {
    try await withStack(.sqlite) { stack in
      let merged = try await stack.gateway.get("/openapi.json")
      let known = Set(publicRoutes.map { Self.shape($0.method.rawValue, $0.path) })
      let own = Set(LocalRoute.allCases.map { Self.shape("get", $0.rawValue) })
      #expect(Set(try Self.operations(of: OpenAPI(yaml: PackageResources.openapi_yaml).body).keys) == own)
      var expected = own
      for server in stack.servers {
        let documented = Set(try Self.operations(of: server.api.body).keys)
        #expect(!documented.isEmpty)
        let hidden = documented.subtracting(known).subtracting(own)
        #expect(hidden.allSatisfy { $0.contains(" /internal/") }, "\(server.service): the gateway has no \(hidden)")
        expected.formUnion(documented.intersection(known))
      }
      #expect(Set(try Self.operations(of: merged.body).keys) == expected)
    }
  }

  @Test(arguments: ["paths: [", "openapi: 3.1.0", "just text", ""])
  func aTextThatIsNoDocumentIsRefusedWhenItIsRead(text: String) {
    let api = OpenAPI(yaml: Array(text.utf8))
    #expect(throws: (any Error).self) { try api.body }
    #expect(throws: (any Error).self) { try api.operations }
  }

  @Test func whoMayCallIsWhatTheTableSays() async throws {
    try await withStack(.sqlite) { stack in
      let operations = try Self.operations(of: try await stack.gateway.get("/openapi.json").body)
      for route in publicRoutes {
        guard let operation = operations[Self.shape(route.method.rawValue, route.path)] else { continue }
        let ways = (operation["security"] as? [[String: Any]] ?? []).map { Set($0.keys) }
        let words = "\(route.method.rawValue) \(route.path): \(ways)"
        switch route.bearer {
        case .required: #expect(ways.contains(["bearer"]) && !ways.contains([]), "\(words)")
        case .optional, .ifValid: #expect(ways.contains(["bearer"]) && ways.contains([]), "\(words)")
        case .serviceKey: #expect(ways == [["serviceKey"]], "\(words)")
        case .none: #expect(!ways.contains(["bearer"]), "\(words)")
        }
      }
    }
  }

  @Test func whatTheGatewayAnswersByItselfStandsWithEveryOperation() async throws {
    try await withStack(.sqlite) { stack in
      let document = try await stack.gateway.get("/openapi.json")
      let operations = try Self.operations(of: document.body)
      #expect(!operations.isEmpty)
      // A method that the path lacks is not the response of an operation.
      let statuses = Set(HTTPParseError.allCases.filter { $0 != .unknownMethod }.map { String($0.status) })
      for (name, operation) in operations {
        let responses = try #require(operation["responses"] as? [String: [String: Any]])
        #expect(statuses.subtracting(responses.keys).isEmpty, "\(name)")
      }
      let balance = try #require(operations["GET /api/v1/credits/balance"]?["responses"] as? [String: [String: Any]])
      #expect(balance["429"]?["$ref"] as? String == "#/components/responses/TooOften")
      let words = try #require(balance["503"]?["description"] as? String)
      #expect(words.contains("`service_keys_unset`") && words.contains("By the gateway: `service_unavailable`"))
      let headers = try #require(balance["200"]?["headers"] as? [String: Any])
      #expect(headers["RateLimit"] != nil && headers["X-Request-ID"] != nil)
    }
  }

  @Test(.enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: the OpenAPI documents were not checked"))
  func everyDocumentIsWhole() async throws {
    try await withStack(.sqlite) { stack in
      var documents = ["merged": try await stack.gateway.get("/openapi.json").text]
      for server in stack.servers {
        documents[server.service.rawValue] = String(decoding: try server.api.body, as: UTF8.self)
      }
      let faults = try await Self.faults(in: documents)
      #expect(faults.isEmpty, "\(faults)")
    }
  }

  /// The premise of the test above.
  @Test(
    .enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: the OpenAPI documents were not checked"),
    arguments: [
      (#""summary":"Show the signed-in user.","#, "", "GET /api/v1/auth/me: has no summary"),
      (#""expires_in":900"#, #""expires_in":"900""#, "'900' is not of type 'integer'"),
      (#""WWW-Authenticate""#, #""X-Other""#, "401 has no WWW-Authenticate"),
      (#""415":"#, #""416":"#, "POST /api/v1/auth/refresh: has no 415"),
      (#"components/schemas/User""#, #"components/schemas/Usher""#, "Usher"),
      (#""operationId":"logOut""#, #""operationId":"getOwnAccount""#, "Operation ID 'getOwnAccount'"),
      (
        #""application/problem+json""#, #""application/json""#,
        "GET /api/v1/auth/me: 401 is no application/problem+json"
      ),
    ])
  func whatIsMissingOrWrongInADocumentIsNamed(text: String, replacement: String, expectedFault: String) async throws {
    try await withStack(.sqlite) { stack in
      let auth = String(
        decoding: try #require(stack.servers.first { $0.service == .auth }).api.body, as: UTF8.self)
      #expect(auth.contains(text))
      let faults = try await Self.faults(in: ["auth": auth.replacing(text, with: replacement)])
      #expect(faults.contains(expectedFault), "\(faults)")
    }
  }

  private static func faults(in documents: [String: String]) async throws -> String {
    let input = documents.map { "\"\($0)\": \($1)" }.joined(separator: ",\n")
    let (_, faults) = try await Python.outcome(of: Python.script("openapi_check"), input: "{\(input)}")
    return faults.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The documented operations, by `GET /path/{}`.
  private static func operations(of document: Data) throws -> [String: [String: Any]] {
    let object = try #require(try JSONSerialization.jsonObject(with: document) as? [String: Any])
    let paths = try #require(object["paths"] as? [String: [String: Any]])
    var operations: [String: [String: Any]] = [:]
    for (path, item) in paths {
      for (name, value) in item {
        guard RequestHead.Method(rawValue: name.uppercased()) != nil else { continue }
        operations[shape(name, path)] = value as? [String: Any]
      }
    }
    return operations
  }

  /// The names of path parameters do not matter.
  private static func shape(_ method: String, _ path: String) -> String {
    "\(method.uppercased()) \(path.replacing(/\{[^}]*\}/, with: "{}"))"
  }
}
