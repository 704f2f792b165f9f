import AsyncHTTPClient
import Clients
import Foundation
import NIOFoundationCompat
import Web
import Wire

/// One OpenAPI document of everything that can be called through the gateway, put together from what the services say
/// of themselves. A service that is away is missing until it is back.
actor MergedOpenAPI {
  private let neighbours: Neighbours
  private let publicURL: String
  /// "service GET /path/{}" of every public route.
  private let known: Set<String>
  private var kept: (document: Data, until: ContinuousClock.Instant)?
  private var underWay: Task<(Data, Bool), Never>?

  init(_ neighbours: Neighbours, routes: [Route], publicURL: String) {
    self.neighbours = neighbours
    self.publicURL = publicURL
    known = Set(routes.map { Self.name($0.service, $0.method.rawValue, $0.path) })
  }

  func document() async -> Data {
    if let kept, ContinuousClock.now < kept.until { return kept.document }
    if let underWay { return await underWay.value.0 }
    let task = Task { await merge() }
    underWay = task
    let (document, isComplete) = await task.value
    underWay = nil
    kept = (document, .now + (isComplete ? .seconds(30) : .seconds(1)))
    return document
  }

  private func merge() async -> (Data, Bool) {
    var merged = Merge(publicURL: publicURL)
    var isComplete = true
    for service in neighbours.present {
      guard let data = await Self.fetch(service, neighbours),
        // `try?`: what is not JSON is as good as nothing.
        let document = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
      else {
        isComplete = false
        continue
      }
      merged.add(document, of: service) { known.contains(Self.name(service, $0, $1)) }
    }
    let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
    // `try?`: it came from JSON, so it can be JSON again.
    return ((try? JSONSerialization.data(withJSONObject: merged.document, options: options)) ?? Data(), isComplete)
  }

  private static func fetch(_ service: ServiceName, _ neighbours: Neighbours) async -> Data? {
    for url in neighbours.urls(of: service) {
      do {
        let response = try await Outbound.http.execute(
          HTTPClientRequest(url: url + "/openapi.json"), timeout: .seconds(2))
        let body = try await response.body.collect(upTo: 4 * 1024 * 1024)
        if response.status == .ok { return Data(buffer: body) }
      } catch { continue }
    }
    return nil
  }

  /// Names of variables do not matter.
  private static func name(_ service: ServiceName, _ method: String, _ path: String) -> String {
    let segments = path.split(separator: "/").map { $0.hasPrefix("{") ? "{}" : $0 }
    return "\(service.rawValue) \(method.uppercased()) /\(segments.joined(separator: "/"))"
  }
}

/// Puts OpenAPI 3.1 documents together: paths side by side, components by name, the same name for two things made two.
struct Merge {
  private(set) var document: [String: Any]
  private static let methods: Set = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

  init(publicURL: String) {
    document = [
      "openapi": "3.1.0",
      "info": ["title": "Kith", "version": Kith.version],
      "servers": [["url": publicURL]],
      "paths": [String: Any](), "components": [String: Any](), "tags": [[String: Any]](),
    ]
  }

  mutating func add(_ other: [String: Any], of service: ServiceName, where isKnown: (String, String) -> Bool) {
    var components = document["components"] as? [String: [String: Any]] ?? [:]
    var renamed: [String: String] = [:]
    let others = other["components"] as? [String: [String: Any]] ?? [:]
    for (kind, values) in others {
      for (name, value) in values {
        guard let there = components[kind]?[name], !Self.same(there, value) else { continue }
        renamed["#/components/\(kind)/\(name)"] = "#/components/\(kind)/\(Self.prefixed(name, service))"
      }
    }
    for (kind, values) in others {
      for (name, value) in values {
        let isRenamed = renamed["#/components/\(kind)/\(name)"] != nil
        let key = isRenamed ? Self.prefixed(name, service) : name
        components[kind, default: [:]][key] = Self.renaming(value, renamed)
      }
    }
    document["components"] = components
    addPaths(of: other, service, renamed, where: isKnown)
  }

  private mutating func addPaths(
    of other: [String: Any], _ service: ServiceName, _ renamed: [String: String],
    where isKnown: (String, String) -> Bool
  ) {
    var paths = document["paths"] as? [String: [String: Any]] ?? [:]
    var count = 0
    for (path, item) in other["paths"] as? [String: [String: Any]] ?? [:] {
      let shared = item.filter { !Self.methods.contains($0.key) }
      for (method, operation) in item where Self.methods.contains(method) && isKnown(method, path) {
        guard var operation = Self.renaming(operation, renamed) as? [String: Any] else { continue }
        if operation["tags"] == nil { operation["tags"] = [service.rawValue] }
        if operation["security"] == nil, let security = other["security"] { operation["security"] = security }
        paths[path, default: Self.renaming(shared, renamed) as? [String: Any] ?? [:]][method] = operation
        count += 1
      }
    }
    document["paths"] = paths
    guard count > 0 else { return }
    let info = other["info"] as? [String: Any]
    let tag = ["name": service.rawValue, "description": info?["description"] as? String ?? ""]
    document["tags"] = (document["tags"] as? [[String: Any]] ?? []) + [tag]
  }

  private static func prefixed(_ name: String, _ service: ServiceName) -> String { "\(service.rawValue)_\(name)" }

  private static func same(_ left: Any, _ right: Any) -> Bool { (left as? NSObject)?.isEqual(right) ?? false }

  /// The same with every `$ref` to a renamed thing changed.
  private static func renaming(_ value: Any, _ names: [String: String]) -> Any {
    if let object = value as? [String: Any] {
      var changed: [String: Any] = [:]
      for (key, value) in object {
        if key == "$ref", let name = value as? String {
          changed[key] = names[name] ?? name
        } else {
          changed[key] = renaming(value, names)
        }
      }
      return changed
    }
    if let list = value as? [Any] { return list.map { renaming($0, names) } }
    return value
  }
}
