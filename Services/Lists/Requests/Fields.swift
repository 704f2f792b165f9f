import Foundation
import Hummingbird
import Web
import Wire

/// What a body says about one of its members.
enum Given<Value: Sendable>: Sendable {
  case nothing
  case null
  case value(Value)

  /// What there is afterwards, when there has been `current`.
  func or(_ current: Value?) -> Value? {
    switch self {
    case .nothing: current
    case .null: nil
    case .value(let value): value
    }
  }

  var value: Value? { or(nil) }

  var isGiven: Bool {
    if case .nothing = self { false } else { true }
  }
}

/// The members of an object in a body, read one by one, so that everything that is wrong with them is said at once.
struct Fields {
  private var members: [String: JSONValue]
  private var errors: [Failure.Field] = []

  init(_ members: [String: JSONValue] = [:]) { self.members = members }

  func has(_ name: String) -> Bool { members[name] != nil }

  mutating func refuse(_ name: String, _ message: String) { errors.append(.init(name, message)) }

  /// - Throws: 422 that names every field that was refused.
  func finish() throws(Failure) {
    guard errors.isEmpty else { throw .invalid(errors) }
  }

  /// Text without spaces around it. Where it must have a character, null and nothing but spaces are refused. Its length is
  /// that of its Unicode scalars: what looks like one character may have thousands of marks on it.
  mutating func text(_ name: String, _ length: ClosedRange<Int>) -> Given<String> {
    switch members[name] {
    case nil: return .nothing
    case .null where length.lowerBound == 0: return .null
    case .string(let text):
      let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
      if trimmed.unicodeScalars.count > length.upperBound {
        refuse(name, "must have at most \(length.upperBound) characters")
      }
      if trimmed.isEmpty, length.lowerBound > 0 { refuse(name, "cannot be blank") }
      return trimmed.isEmpty ? .null : .value(trimmed)
    case .null: refuse(name, "cannot be blank")
    default: refuse(name, "must be a string")
    }
    return .nothing
  }

  mutating func choice(_ name: String, _ choices: [String]) -> Given<String> {
    switch members[name] {
    case nil: return .nothing
    case .string(let text) where choices.contains(text): return .value(text)
    default: refuse(name, "must be one of \(choices.joined(separator: ", "))")
    }
    return .nothing
  }

  mutating func flag(_ name: String) -> Given<Bool> {
    switch members[name] {
    case nil: return .nothing
    case .bool(let value): return .value(value)
    default: refuse(name, "must be true or false")
    }
    return .nothing
  }

  mutating func number(_ name: String, _ range: ClosedRange<Int>) -> Given<Int> {
    switch members[name] {
    case nil: return .nothing
    case .integer(let value) where range.contains(value): return .value(value)
    default: refuse(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return .nothing
  }

  /// A time of these centuries, in UTC.
  mutating func time(_ name: String) -> Given<Date> {
    switch members[name] {
    case nil: return .nothing
    case .null: return .null
    case .string(let text):
      if let time = Instant.parse(text), Instant.storable.contains(time) { return .value(time) }
    default: break
    }
    refuse(name, "must be a time in UTC with Z")
    return .nothing
  }

  /// Somebody's number, UUID or e-mail address, as a number or as text.
  mutating func identifier(_ name: String) -> String? {
    switch members[name] {
    case .integer(let number): return String(number)
    case .string(let text) where !text.isEmpty && text.unicodeScalars.count <= 320: return text
    case nil, .null: refuse(name, "cannot be blank")
    default: refuse(name, "must be an e-mail address or an id")
    }
    return nil
  }

  /// Ids, each once.
  mutating func ids(_ name: String, most: Int) -> Given<[Int]> {
    guard let member = members[name] else { return .nothing }
    guard case .array(let values) = member, values.count <= most else {
      refuse(name, "must be a list of at most \(most) ids")
      return .nothing
    }
    let ids = values.compactMap { if case .integer(let id) = $0 { id } else { nil } }
    if ids.count < values.count { refuse(name, "must be a list of at most \(most) ids") }
    return .value(Set(ids).sorted())
  }

  /// The objects of a list.
  mutating func objects(_ name: String, most: Int) -> [[String: JSONValue]] {
    guard case .array(let values) = members[name], (1...most).contains(values.count) else {
      refuse(name, "must be a list of 1 to \(most) objects")
      return []
    }
    let objects = values.compactMap { if case .object(let object) = $0 { object } else { nil } }
    if objects.count < values.count { refuse(name, "must be a list of 1 to \(most) objects") }
    return objects
  }

  /// The same members, and those of the object `name` among them, which win.
  func opening(_ name: String) -> Fields {
    guard case .object(let inner) = members[name] else { return self }
    return Fields(members.merging(inner) { $1 })
  }
}

extension Instant {
  /// Times that are written with four digits of the year, so that they are in order as text too.
  static let storable = Date(timeIntervalSince1970: 0)..<Date(timeIntervalSince1970: 253_402_300_800)
}

extension Request {
  /// The object that the body must have under `root`.
  ///
  /// - Throws: 400 when it is not there.
  func fields(_ root: String) async throws -> Fields {
    guard let object = try await json(JSONValue.self)[root] else {
      throw Failure(.malformed, "parameter_missing", "The body must have the member \(root).")
    }
    guard case .object(let members) = object else { throw Failure.invalid(.init(root, "must be an object")) }
    return Fields(members)
  }

  /// The body of an action, which may be left out or stand under `root`.
  func fieldsIfAny(_ root: String) async throws -> Fields {
    guard let body = try await jsonIfAny(JSONValue.self) else { return Fields() }
    guard case .object(let members) = body else { throw Failure.invalid(.init("body", "must be an object")) }
    return Fields(members).opening(root)
  }
}

extension SignedIn {
  /// A number in the path.
  ///
  /// - Throws: 404 for what is none: there is nothing of that name.
  func id(_ name: String) throws(Failure) -> Int {
    guard let text = parameters.get(name), let id = Int(text), id > 0 else { throw .notFound }
    return id
  }
}
