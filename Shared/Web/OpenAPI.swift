import Foundation
import Hummingbird
import Yams

/// A service's description of its routes (OpenAPI 3.1), written in `openapi.yaml` beside its code.
package struct OpenAPI: Sendable {
  private let json: Data
  /// `GET /api/v1/users/{id}` and so on.
  package let operations: Set<String>

  /// - Throws: ``StartFailure`` when the text is not such a document; a build with one does not start.
  package init(yaml: [UInt8]) throws {
    guard let document = try Yams.load(yaml: String(decoding: yaml, as: UTF8.self)) as? [String: Any],
      let paths = document["paths"] as? [String: [String: Any]]
    else { throw StartFailure("openapi.yaml is not an OpenAPI document") }
    json = try JSONSerialization.data(withJSONObject: document, options: [.sortedKeys, .withoutEscapingSlashes])
    let methods: Set = ["get", "put", "post", "delete", "patch", "head", "options"]
    operations = Set(
      paths.flatMap { path, item in
        item.keys.filter(methods.contains).map { "\($0.uppercased()) \(path)" }
      })
  }

  /// The document as JSON, as it is served.
  package var body: Data { json }
}

extension Server {
  /// The routes that the router has, in the words of ``OpenAPI/operations``.
  package var operations: Set<String> { Set(routes.map { "\($0.method) \($0.path.description)" }) }
}
