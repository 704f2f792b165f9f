import Clients
import Foundation
import Support
import Synchronization
import Web
import Wire

/// One call from a service to another, made by the client that services use.
struct ServiceCallStep: Sendable {
  let service: ServiceName
  /// The method and the path, with the names of its parameters.
  let route: String
  /// Whose key the caller has.
  let caller: String
  /// What later calls use of the reply: names by which it is known, and the member.
  var gives: [String: String] = [:]
  let call: @Sendable (Dependencies, CallNames) async throws -> Void

  init(
    _ service: ServiceName, _ route: String, by caller: String, gives: [String: String] = [:],
    _ call: @escaping @Sendable (Dependencies, CallNames) async throws -> Void
  ) {
    (self.service, self.route, self.caller, self.gives, self.call) = (service, route, caller, gives, call)
  }

  /// `auth-get-internal-users-id`.
  var name: String {
    let words = route.lowercased().split { !$0.isLetter }.filter { $0 != "internal" }
    return ([service.rawValue] + words.map(String.init)).joined(separator: "-")
  }
}

/// The ids of one run by the names that stand for them in recorded calls.
final class CallNames: Sendable {
  private let ids: Mutex<[String: String]>

  init(_ ids: [String: String]) { self.ids = Mutex(ids) }

  func set(_ name: String, to id: String) { ids.withLock { $0[name] = id } }

  func callAsFunction<Owner>(_ name: String) throws -> ID<Owner> {
    guard let id = ids.withLock({ $0[name] }).flatMap({ ID<Owner>($0) }) else { throw Unexpected(reply: "no \(name)") }
    return id
  }

  func text(_ name: String) throws -> String {
    guard let text = ids.withLock({ $0[name] }) else { throw Unexpected(reply: "no \(name)") }
    return text
  }

  /// With `{alice}` in place of her id.
  func named(_ call: ServiceCall) throws -> ServiceCall {
    var text = String(decoding: try JSON.encode(call), as: UTF8.self)
    for (name, id) in ids.withLock({ $0 }) where name != "list" { text.replace(id, with: "{\(name)}") }
    // A small number, which may be other things as well.
    let list = try self.text("list")
    for end in ["\"", ",", "/"] { text.replace("lists:\(list)\(end)", with: "lists:{list}\(end)") }
    text.replace("/lists/\(list)/", with: "/lists/{list}/")
    for member in ["list", "list_id"] {
      for end in [",", "}"] { text.replace("\"\(member)\":\(list)\(end)", with: "\"\(member)\":\"{list}\"\(end)") }
    }
    return try JSON.decode(ServiceCall.self, from: Data(text.utf8))
  }

  /// The other way round.
  func filled(_ call: ServiceCall) throws -> ServiceCall {
    let text = String(decoding: try JSON.encode(call), as: UTF8.self)
    let numbered = text.replacing("\"{list}\"", with: try self.text("list"))
    return try JSON.decode(ServiceCall.self, from: Data(filled(numbered).utf8))
  }

  /// The list has a number.
  var list: Int {
    get throws {
      guard let number = Int(try text("list")) else { throw Unexpected(reply: "no list") }
      return number
    }
  }

  func filled(_ text: String) -> String {
    ids.withLock { ids in ids.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) } }
  }
}
