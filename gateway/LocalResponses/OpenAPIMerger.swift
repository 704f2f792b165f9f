import Foundation
import Web
import Wire

/// Merges OpenAPI 3.1 documents. A component whose name is taken by a different component is renamed. To the operations
/// of services it adds the responses that the gateway itself may give there.
struct OpenAPIMerger {
  typealias Object = [String: Any]

  private(set) var document: Object
  private static let methods: Set = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

  /// - Parameter gateway: the gateway's own document, whose component names are kept.
  init(_ gateway: Object, publicURL: String) {
    document = gateway
    document["servers"] = [["url": publicURL]]
    changeOperations { merger, operation in
      operation["responses"] = merger.responses(
        operation["responses"] as? [String: Object] ?? [:], and: LocalRoute.responses)
    }
  }

  /// - Parameter route: the route of a method and a path; operations without a route are left out.
  mutating func add(_ other: Object, of service: ServiceName, at route: (String, String) -> Route?) {
    let renamed = addComponents(of: other, service)
    var paths = document["paths"] as? [String: Object] ?? [:]
    var used: Set<String> = []
    for (path, item) in other["paths"] as? [String: Object] ?? [:] {
      let shared = item.filter { !Self.methods.contains($0.key) }
      for (method, operation) in item where Self.methods.contains(method) {
        guard let route = route(method, path), var operation = Self.renaming(operation, renamed) as? Object else {
          continue
        }
        if operation["tags"] == nil { operation["tags"] = [service.rawValue] }
        if operation["security"] == nil, let security = other["security"] { operation["security"] = security }
        operation["responses"] = responses(
          operation["responses"] as? [String: Object] ?? [:], and: route.localResponses)
        paths[path, default: Self.renaming(shared, renamed) as? Object ?? [:]][method] = operation
        used.formUnion(operation["tags"] as? [String] ?? [])
      }
    }
    document["paths"] = paths
    addTags(of: other, used)
  }

  /// The responses of a service and of the gateway. A status of both has the content of both, where the service's takes
  /// precedence, and both descriptions.
  ///
  /// - Parameter local: for each status the name of the gateway's response.
  private func responses(_ upstream: [String: Object], and local: [Int: String]) -> [String: Object] {
    var all = upstream
    for (status, name) in local {
      let local: Object = ["$ref": "#/components/responses/\(name)"]
      all[String(status)] = all[String(status)].map { merged($0, local) } ?? local
    }
    return all
  }

  private func merged(_ upstream: Object, _ local: Object) -> Object {
    let (resolvedUpstream, resolvedLocal) = (resolved(upstream), resolved(local))
    var response = upstream
    var content = resolvedUpstream["content"] as? Object ?? [:]
    if content[Problem.contentType] == nil {
      response = resolvedUpstream
      content.merge(resolvedLocal["content"] as? Object ?? [:]) { upstream, _ in upstream }
      response["content"] = content
    }
    let description =
      [upstream["description"], resolvedUpstream["description"]].compactMap { $0 as? String }.first ?? ""
    response["description"] = "\(description) By the gateway: \(resolvedLocal["description"] as? String ?? "")"
    return response
  }

  private func resolved(_ response: Object) -> Object {
    guard let name = (response["$ref"] as? String)?.split(separator: "/").last else { return response }
    let components = document["components"] as? [String: Object]
    return components?["responses"]?[String(name)] as? Object ?? response
  }

  /// - Returns: the references that had to be renamed, each with its new name.
  private mutating func addComponents(of other: Object, _ service: ServiceName) -> [String: String] {
    var components = document["components"] as? [String: Object] ?? [:]
    let others = other["components"] as? [String: Object] ?? [:]
    let renamed = Self.renamed(others, beside: components, service)
    for (kind, values) in others {
      for (name, value) in values {
        let isRenamed = renamed["#/components/\(kind)/\(name)"] != nil
        let key = isRenamed ? Self.prefixed(name, service) : name
        components[kind, default: [:]][key] = Self.renaming(value, renamed)
      }
    }
    document["components"] = components
    return renamed
  }

  /// The components whose names are taken by different components. A component that refers to a renamed one is a
  /// different component too, so the search is repeated until nothing changes.
  private static func renamed(
    _ others: [String: Object], beside components: [String: Object], _ service: ServiceName
  ) -> [String: String] {
    var renamed: [String: String] = [:]
    var count: Int
    repeat {
      count = renamed.count
      for (kind, values) in others {
        for (name, value) in values {
          guard let existing = components[kind]?[name], !isEqual(existing, renaming(value, renamed)) else { continue }
          renamed["#/components/\(kind)/\(name)"] = "#/components/\(kind)/\(prefixed(name, service))"
        }
      }
    } while renamed.count > count
    return renamed
  }

  /// Adds the tags that are used by operations. Of tags with the same name in several documents the first one is kept.
  private mutating func addTags(of other: Object, _ used: Set<String>) {
    var tags = document["tags"] as? [Object] ?? []
    for tag in other["tags"] as? [Object] ?? [] {
      guard let name = tag["name"] as? String, used.contains(name),
        !tags.contains(where: { $0["name"] as? String == name })
      else { continue }
      tags.append(tag)
    }
    document["tags"] = tags
  }

  private static func prefixed(_ name: String, _ service: ServiceName) -> String { "\(service.rawValue)_\(name)" }

  private static func isEqual(_ left: Any, _ right: Any) -> Bool { (left as? NSObject)?.isEqual(right) ?? false }

  /// A copy of `value` in which each `$ref` to a renamed component has the new name.
  private static func renaming(_ value: Any, _ names: [String: String]) -> Any {
    if let object = value as? Object {
      var changed: Object = [:]
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

extension OpenAPIMerger {
  /// Adds the headers that the gateway sends with every response to each response.
  mutating func addHeaders() {
    var components = document["components"] as? [String: Object] ?? [:]
    components["responses"] = (components["responses"] as? [String: Object])?.mapValues(Self.withHeaders)
    document["components"] = components
    changeOperations { _, operation in
      operation["responses"] = (operation["responses"] as? [String: Object])?.mapValues(Self.withHeaders)
    }
  }

  private mutating func changeOperations(_ change: (OpenAPIMerger, inout Object) -> Void) {
    var paths = document["paths"] as? [String: Object] ?? [:]
    for (path, item) in paths {
      for (method, operation) in item where Self.methods.contains(method) {
        guard var operation = operation as? Object else { continue }
        change(self, &operation)
        paths[path]?[method] = operation
      }
    }
    document["paths"] = paths
  }

  private static func withHeaders(_ response: Object) -> Object {
    guard response["$ref"] == nil else { return response }
    var response = response
    let headers = response["headers"] as? [String: Any] ?? [:]
    let references: Object = headerNames.mapValues { ["$ref": "#/components/headers/\($0)"] }
    response["headers"] = headers.merging(references) { first, _ in first }
    return response
  }

  /// Header names, each with the name of the component that describes it.
  private static let headerNames = [
    "X-Request-ID": "RequestID", "RateLimit-Policy": "RateLimitPolicy", "RateLimit": "RateLimit",
    "X-RateLimit-Limit": "RateLimitLimit", "X-RateLimit-Remaining": "RateLimitRemaining",
    "X-RateLimit-Reset": "RateLimitReset",
  ]
}
