import Foundation
import NIOHTTP1
import Support

@testable import Lists

/// A request body with values of mixed types under its root.
func body(_ root: String, _ fields: [String: any Sendable]) -> [String: any Sendable] { [root: fields] }

/// Shorthands for requests that many tests make.
extension Browser {
  func put(_ path: String, _ body: [String: any Sendable]) async throws -> Reply {
    try await send(.PUT, path, body: try JSONSerialization.data(withJSONObject: body))
  }

  func patch(_ path: String, _ body: [String: any Sendable] = [:]) async throws -> Reply {
    try await send(.PATCH, path, body: try JSONSerialization.data(withJSONObject: body))
  }

  /// Creates a list and returns its ID.
  func makeList(_ name: String = "Groceries") async throws -> Int {
    let reply = try await post("/api/v1/lists", ["list": ["name": name]])
    guard reply.status == 201, let id = reply.object("list").int("id") else { throw Unexpected(reply: reply.text) }
    return id
  }

  /// Creates a task and returns its ID.
  func makeTask(_ list: Int, _ title: String = "Milk", _ more: [String: any Sendable] = [:]) async throws -> Int {
    let task: [String: any Sendable] = ["title": title].merging(more) { $1 }
    let reply = try await post("/api/v1/lists/\(list)/tasks", ["task": task])
    guard reply.status == 201, let id = reply.object("task").int("id") else { throw Unexpected(reply: reply.text) }
    return id
  }

  /// Adds `<name>@example.com` to a list and returns the membership's ID.
  @discardableResult
  func share(_ list: Int, with name: String, as role: String = "editor") async throws -> Int {
    let reply = try await post(
      "/api/v1/lists/\(list)/memberships",
      ["membership": ["user_identifier": "\(name)@example.com", "role": role]])
    guard reply.status == 201, let id = reply.object("membership").int("id") else {
      throw Unexpected(reply: reply.text)
    }
    return id
  }

  func titles(_ list: Int) async throws -> [String] {
    try await get("/api/v1/lists/\(list)/tasks").objects("tasks").map { $0.string("title") }
  }
}

extension Browser.Reply {
  func object(_ name: String) -> [String: Any] { self[name] as? [String: Any] ?? [:] }

  func objects(_ name: String) -> [[String: Any]] { self[name] as? [[String: Any]] ?? [] }

  /// The IDs in `tombstones`.
  var tombstones: [Int] { (self["tombstones"] as? [String] ?? []).compactMap { Int($0) } }

  var tag: String { headers.first(name: "etag") ?? "" }

  /// The names of the fields in `error.details`.
  var faults: [String] { (object("error")["details"] as? [String: Any] ?? [:]).keys.sorted() }
}

extension [String: Any] {
  func int(_ name: String) -> Int? { (self[name] as? NSNumber)?.intValue }
  func string(_ name: String) -> String { self[name] as? String ?? "" }
  func bool(_ name: String) -> Bool? { (self[name] as? NSNumber)?.boolValue }
  func object(_ name: String) -> [String: Any] { self[name] as? [String: Any] ?? [:] }
  func objects(_ name: String) -> [[String: Any]] { self[name] as? [[String: Any]] ?? [] }
}
