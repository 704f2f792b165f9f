import Foundation
import Web
import Wire

/// Puts OpenAPI 3.1 documents together: paths side by side, components by name, the same name for two things made two.
/// To what a service says of an operation it adds what the gateway answers there by itself.
struct Merge {
  typealias Object = [String: Any]

  private(set) var document: Object
  private static let methods: Set = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

  /// - Parameter own: the gateway's own document, whose names win.
  init(_ own: Object, publicURL: String) {
    document = own
    document["servers"] = [["url": publicURL]]
    changeOperations { merge, operation in
      operation["responses"] = merge.answers(operation["responses"] as? [String: Object] ?? [:], and: OwnRoute.answers)
    }
  }

  /// - Parameter route: what the table has for a method and a path; nothing else is taken.
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
        operation["responses"] = answers(operation["responses"] as? [String: Object] ?? [:], and: route.ownAnswers)
        paths[path, default: Self.renaming(shared, renamed) as? Object ?? [:]][method] = operation
        used.formUnion(operation["tags"] as? [String] ?? [])
      }
    }
    document["paths"] = paths
    addTags(of: other, used)
  }

  /// Theirs and the gateway's. Where both have a status, theirs says how it looks, and both say what it means.
  private func answers(_ theirs: [String: Object], and own: [Int: String]) -> [String: Object] {
    var all = theirs
    for (status, name) in own {
      let own: Object = ["$ref": "#/components/responses/\(name)"]
      all[String(status)] = all[String(status)].map { together($0, own) } ?? own
    }
    return all
  }

  private func together(_ theirs: Object, _ own: Object) -> Object {
    let (whole, wholeOwn) = (resolved(theirs), resolved(own))
    var response = theirs
    var content = whole["content"] as? Object ?? [:]
    if content[Problem.contentType] == nil {
      response = whole
      content.merge(wholeOwn["content"] as? Object ?? [:]) { theirs, _ in theirs }
      response["content"] = content
    }
    let words = [theirs["description"], whole["description"]].compactMap { $0 as? String }.first ?? ""
    response["description"] = "\(words) By the gateway: \(wholeOwn["description"] as? String ?? "")"
    return response
  }

  private func resolved(_ response: Object) -> Object {
    guard let name = (response["$ref"] as? String)?.split(separator: "/").last else { return response }
    let components = document["components"] as? [String: Object]
    return components?["responses"]?[String(name)] as? Object ?? response
  }

  /// - Returns: the references that had to be renamed.
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

  /// What has the name of another thing already. What leads to such a thing is another thing too, whatever it looks like.
  private static func renamed(
    _ others: [String: Object], beside components: [String: Object], _ service: ServiceName
  ) -> [String: String] {
    var renamed: [String: String] = [:]
    var count: Int
    repeat {
      count = renamed.count
      for (kind, values) in others {
        for (name, value) in values {
          guard let there = components[kind]?[name], !same(there, renaming(value, renamed)) else { continue }
          renamed["#/components/\(kind)/\(name)"] = "#/components/\(kind)/\(prefixed(name, service))"
        }
      }
    } while renamed.count > count
    return renamed
  }

  /// The tags that its operations have; of two services' tags of the same name, the first one's words.
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

  private static func same(_ left: Any, _ right: Any) -> Bool { (left as? NSObject)?.isEqual(right) ?? false }

  /// The same with every `$ref` to a renamed thing changed.
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

extension Merge {
  /// What the gateway says in every answer, added to each of them.
  mutating func addHeaders() {
    var components = document["components"] as? [String: Object] ?? [:]
    components["responses"] = (components["responses"] as? [String: Object])?.mapValues(Self.withHeaders)
    document["components"] = components
    changeOperations { _, operation in
      operation["responses"] = (operation["responses"] as? [String: Object])?.mapValues(Self.withHeaders)
    }
  }

  private mutating func changeOperations(_ change: (Merge, inout Object) -> Void) {
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
    response["headers"] = headers.merging(headerNames.mapValues { ["$ref": "#/components/headers/\($0)"] }) { own, _ in
      own
    }
    return response
  }

  /// By the names of the components that describe them.
  private static let headerNames = [
    "X-Request-ID": "RequestID", "RateLimit-Policy": "RateLimitPolicy", "RateLimit": "RateLimit",
    "X-RateLimit-Limit": "RateLimitLimit", "X-RateLimit-Remaining": "RateLimitRemaining",
    "X-RateLimit-Reset": "RateLimitReset",
  ]
}
