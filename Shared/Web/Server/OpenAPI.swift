import Foundation
import Hummingbird
import Synchronization
import Yams

/// A service's OpenAPI 3.1 document, from the `openapi.yaml` in its folder. It is parsed at the first use, as that takes
/// longer than all the rest of a start.
package final class OpenAPI: Sendable {
  private let yaml: [UInt8]
  private let json = Mutex<Data?>(nil)

  package init(yaml: [UInt8]) { self.yaml = yaml }

  /// The document as JSON.
  ///
  /// - Throws: ``StartFailure`` when the text is not an OpenAPI document.
  package var body: Data {
    get throws {
      try json.withLock { json in
        if let json { return json }
        let data = try JSONSerialization.data(
          withJSONObject: document, options: [.sortedKeys, .withoutEscapingSlashes])
        json = data
        return data
      }
    }
  }

  /// Every operation as method and path template: `GET /api/v1/users/{id}`.
  ///
  /// - Throws: ``StartFailure`` when the text is not an OpenAPI document.
  package var operations: Set<String> {
    get throws {
      let methods: Set = ["get", "put", "post", "delete", "patch", "head", "options"]
      let paths = try document["paths"] as? [String: [String: Any]] ?? [:]
      return Set(
        paths.flatMap { path, item in
          item.keys.filter(methods.contains).map { "\($0.uppercased()) \(path)" }
        })
    }
  }

  private var document: [String: Any] {
    get throws {
      guard let document = try Yams.load(yaml: String(decoding: yaml, as: UTF8.self)) as? [String: Any],
        document["paths"] is [String: [String: Any]]
      else { throw StartFailure("openapi.yaml is not an OpenAPI document") }
      return document
    }
  }
}

extension Server {
  /// The router's routes in the format of ``OpenAPI/operations``.
  package var operations: Set<String> { Set(routes.map { "\($0.method) \($0.path.description)" }) }
}
