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

  /// Refuses a body without it.
  mutating func require(_ name: String) {
    if members[name] ?? .null == .null { refuse(name, "is required") }
  }

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

  mutating func choice(_ name: String, _ choices: [String], orNull: Bool = false) -> Given<String> {
    switch members[name] {
    case nil: return .nothing
    case .null where orNull: return .null
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

  /// - Parameter orNull: whether null takes back what was there.
  mutating func number(_ name: String, _ range: ClosedRange<Int>, orNull: Bool = false) -> Given<Int> {
    switch members[name] {
    case nil: return .nothing
    case .null where orNull: return .null
    case .integer(let value) where range.contains(value): return .value(value)
    default: refuse(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return .nothing
  }

  /// A number that need not be whole, or null.
  mutating func decimal(_ name: String, _ range: ClosedRange<Double>) -> Given<Double> {
    switch members[name] {
    case nil: return .nothing
    case .null: return .null
    case .integer(let value) where range.contains(Double(value)): return .value(Double(value))
    case .number(let value) where range.contains(value): return .value(value)
    default: refuse(name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return .nothing
  }

  /// A time of these centuries, written as RFC 3339 has it, in UTC or with an offset from it.
  mutating func time(_ name: String) -> Given<Date> {
    switch members[name] {
    case nil: return .nothing
    case .null: return .null
    case .string(let text):
      if let time = Timestamp.parse(text), Instant.storable.contains(time) { return .value(time) }
    default: break
    }
    refuse(name, "must be a time as 2026-11-21T08:15:30Z, with Z or an offset as +01:00")
    return .nothing
  }

  /// A day, or a time on it.
  mutating func day(_ name: String) -> Given<DayOrTime> {
    switch members[name] {
    case nil: return .nothing
    case .null: return .null
    case .string(let text):
      if let day = CalendarDay(text) { return .value(.day(day)) }
      if let time = Timestamp.parse(text), Instant.storable.contains(time) { return .value(.time(time)) }
    default: break
    }
    refuse(name, "must be a day as 2026-11-21")
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

  /// Small numbers, each once and in order. None of them is the same as null.
  mutating func numbers(_ name: String, _ range: ClosedRange<Int>) -> Given<[Int]> {
    switch members[name] {
    case nil: return .nothing
    case .null: return .null
    case .array(let values):
      let numbers = values.compactMap { if case .integer(let number) = $0 { number } else { nil } }
      guard numbers.count == values.count, numbers.allSatisfy(range.contains) else { break }
      return numbers.isEmpty ? .null : .value(Set(numbers).sorted())
    default: break
    }
    refuse(name, "must be a list of whole numbers from \(range.lowerBound) to \(range.upperBound)")
    return .nothing
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

/// Reads a time as RFC 3339 allows it to be written: with any offset, any number of decimals, and small letters.
enum Timestamp {
  static func parse(_ text: String) -> Date? {
    guard CalendarDay(String(text.prefix(10))) != nil else { return nil }
    if let time = Instant.parse(text) { return time }
    // Captures: the time without a zone, its decimals, and the zone.
    let form = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)/
    guard text.utf8.count <= 64, let match = text.uppercased().wholeMatch(of: form) else { return nil }
    let decimals = match.2.map { ".\($0.prefix(3))" } ?? ""
    guard let time = Instant.parse("\(match.1)\(decimals)Z"), let seconds = offset(match.3) else { return nil }
    return time - Double(seconds)
  }

  /// Seconds east of Greenwich.
  private static func offset(_ zone: Substring) -> Int? {
    guard zone != "Z" else { return 0 }
    guard let hours = Int(zone.dropFirst().prefix(2)), let minutes = Int(zone.suffix(2)), hours < 24, minutes < 60
    else { return nil }
    return (hours * 3600 + minutes * 60) * (zone.hasPrefix("-") ? -1 : 1)
  }
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
  func fieldsIfAny(_ root: String, bytesMax: Int = WholeBody.bytesMax) async throws -> Fields {
    guard let body = try await jsonIfAny(JSONValue.self, bytesMax: bytesMax) else { return Fields() }
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
