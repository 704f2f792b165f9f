import Foundation
import Hummingbird
import Yams

/// A service's OpenAPI 3.1 document, loaded from the `openapi.yaml` in its folder.
package struct OpenAPI: Sendable {
  private let json: Data
  /// Every operation as method and path template: `GET /api/v1/users/{id}`.
  package let operations: Set<String>

  /// - Throws: ``StartFailure`` when the text is not an OpenAPI document.
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

  /// The document as JSON.
  package var body: Data { json }
}

extension Server {
  /// The router's routes in the format of ``OpenAPI/operations``.
  package var operations: Set<String> { Set(routes.map { "\($0.method) \($0.path.description)" }) }
}
