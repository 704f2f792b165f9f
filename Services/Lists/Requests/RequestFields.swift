import Foundation
import Hummingbird
import Web
import Wire

/// The value of an optional field: absent, null, or a value.
enum FieldValue<Value: Sendable>: Sendable {
  case absent
  case null
  case value(Value)

  /// The new value of a property whose value is `current`.
  func applied(to current: Value?) -> Value? {
    switch self {
    case .absent: current
    case .null: nil
    case .value(let value): value
    }
  }

  var value: Value? { applied(to: nil) }

  var isPresent: Bool {
    if case .absent = self { false } else { true }
  }
}

/// The fields of a request body or query, read one by one, so that one response names every invalid field. For partial
/// updates, in which an absent field is not the same as null, which a `Decodable` body does not distinguish.
struct RequestFields {
  private var members: [String: JSONValue]
  private var errors: [Failure.Field] = []

  init(_ members: [String: JSONValue] = [:]) { self.members = members }

  func has(_ name: String) -> Bool { members[name] != nil }

  mutating func addError(_ name: String, _ message: String) { errors.append(.init(name, message)) }

  /// Adds an error when the field is absent or null.
  mutating func require(_ name: String) {
    if members[name] ?? .null == .null { addError(name, "is required") }
  }

  /// - Throws: 422 that names every field with an error.
  func validate() throws(Failure) {
    guard errors.isEmpty else { throw .invalid(errors) }
  }

  /// Text, trimmed of white space. When it must not be empty, null and white space are errors. Its length is counted in
  /// Unicode scalars, because one grapheme cluster may contain thousands of combining marks.
  mutating func text(_ name: String, _ length: ClosedRange<Int>) -> FieldValue<String> {
    switch members[name] {
    case nil: return .absent
    case .null where length.lowerBound == 0: return .null
    case .string(let text):
      let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
      if trimmed.unicodeScalars.count > length.upperBound {
        addError(name, "must have at most \(length.upperBound) characters")
      }
      if trimmed.isEmpty, length.lowerBound > 0 { addError(name, "cannot be blank") }
      return trimmed.isEmpty ? .null : .value(trimmed)
    case .null: addError(name, "cannot be blank")
    default: addError(name, "must be a string")
    }
    return .absent
  }

  mutating func choice(_ name: String, _ choices: [String], orNull: Bool = false) -> FieldValue<String> {
    switch members[name] {
    case nil: return .absent
    case .null where orNull: return .null
    case .string(let text) where choices.contains(text): return .value(text)
    default: addError(name, "must be one of \(choices.joined(separator: ", "))")
    }
    return .absent
  }

  mutating func flag(_ name: String) -> FieldValue<Bool> {
    switch members[name] {
    case nil: return .absent
    case .bool(let value): return .value(value)
    default: addError(name, "must be true or false")
    }
    return .absent
  }

  /// - Parameter orNull: whether null is allowed, and removes the current value.
  mutating func number(_ name: String, _ range: ClosedRange<Int>, orNull: Bool = false) -> FieldValue<Int> {
    switch members[name] {
    case nil: return .absent
    case .null where orNull: return .null
    case .integer(let value) where range.contains(value): return .value(value)
    default: addError(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return .absent
  }

  /// A number that need not be an integer, or null.
  mutating func decimal(_ name: String, _ range: ClosedRange<Double>) -> FieldValue<Double> {
    switch members[name] {
    case nil: return .absent
    case .null: return .null
    case .integer(let value) where range.contains(Double(value)): return .value(Double(value))
    case .number(let value) where range.contains(value): return .value(value)
    default: addError(name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return .absent
  }

  /// A time from 1970 to 9999 in RFC 3339 format, in UTC or with an offset, or null.
  mutating func time(_ name: String) -> FieldValue<Date> {
    switch members[name] {
    case nil: return .absent
    case .null: return .null
    case .string(let text):
      if let time = Timestamp.parse(text), RFC3339.storable.contains(time) { return .value(time) }
    default: break
    }
    addError(name, "must be a time as 2026-11-21T08:15:30Z, with Z or an offset as +01:00")
    return .absent
  }

  /// A day, or a time on that day, or null.
  mutating func day(_ name: String) -> FieldValue<DayOrTime> {
    switch members[name] {
    case nil: return .absent
    case .null: return .null
    case .string(let text):
      if let day = CalendarDay(text) { return .value(.day(day)) }
      if let time = Timestamp.parse(text), RFC3339.storable.contains(time) { return .value(.time(time)) }
    default: break
    }
    addError(name, "must be a day as 2026-11-21")
    return .absent
  }

  /// A user's number, UUID or e-mail address, as a JSON number or string.
  mutating func identifier(_ name: String) -> String? {
    switch members[name] {
    case .integer(let number): return String(number)
    case .string(let text) where !text.isEmpty && text.unicodeScalars.count <= 320: return text
    case nil, .null: addError(name, "cannot be blank")
    default: addError(name, "must be an e-mail address or an id")
    }
    return nil
  }

  /// Integers, without duplicates and sorted. An empty list is the same as null.
  mutating func numbers(_ name: String, _ range: ClosedRange<Int>) -> FieldValue<[Int]> {
    switch members[name] {
    case nil: return .absent
    case .null: return .null
    case .array(let values):
      let numbers = values.compactMap { if case .integer(let number) = $0 { number } else { nil } }
      guard numbers.count == values.count, numbers.allSatisfy(range.contains) else { break }
      return numbers.isEmpty ? .null : .value(Set(numbers).sorted())
    default: break
    }
    addError(name, "must be a list of whole numbers from \(range.lowerBound) to \(range.upperBound)")
    return .absent
  }

  /// IDs, without duplicates and sorted.
  mutating func ids(_ name: String, max: Int) -> FieldValue<[Int]> {
    guard let member = members[name] else { return .absent }
    guard case .array(let values) = member, values.count <= max else {
      addError(name, "must be a list of at most \(max) ids")
      return .absent
    }
    let ids = values.compactMap { if case .integer(let id) = $0 { id } else { nil } }
    if ids.count < values.count { addError(name, "must be a list of at most \(max) ids") }
    return .value(Set(ids).sorted())
  }

  /// The objects of an array with 1 to `max` elements.
  mutating func objects(_ name: String, max: Int) -> [[String: JSONValue]] {
    guard case .array(let values) = members[name], (1...max).contains(values.count) else {
      addError(name, "must be a list of 1 to \(max) objects")
      return []
    }
    let objects = values.compactMap { if case .object(let object) = $0 { object } else { nil } }
    if objects.count < values.count { addError(name, "must be a list of 1 to \(max) objects") }
    return objects
  }

  /// The same fields merged with those of the object `name`, which take precedence.
  func merging(objectNamed name: String) -> RequestFields {
    guard case .object(let inner) = members[name] else { return self }
    return RequestFields(members.merging(inner) { $1 })
  }
}

extension Request {
  /// The fields of the object that the body must have under `root`.
  ///
  /// - Throws: 400 when it is missing.
  func fields(_ root: String) async throws -> RequestFields {
    guard let object = try await json(JSONValue.self)[root] else {
      throw Failure(.malformed, "parameter_missing", "The body must have the member \(root).")
    }
    guard case .object(let members) = object else { throw Failure.invalid(.init(root, "must be an object")) }
    return RequestFields(members)
  }

  /// The fields of an optional body, at its top level or under `root`.
  func optionalFields(_ root: String, bytesMax: Int = BufferedBodyMiddleware.bytesMax) async throws -> RequestFields {
    guard let body = try await jsonIfPresent(JSONValue.self, bytesMax: bytesMax) else { return RequestFields() }
    guard case .object(let members) = body else { throw Failure.invalid(.init("body", "must be an object")) }
    return RequestFields(members).merging(objectNamed: root)
  }

  /// The query parameters as JSON values: integers, `true` and `false` are converted, everything else is a string.
  var queryFields: [String: JSONValue] {
    uri.queryParameters.reduce(into: [:]) { members, parameter in
      let text = String(parameter.value)
      members[String(parameter.key)] =
        switch text {
        case "true": .bool(true)
        case "false": .bool(false)
        default: Int(text).map(JSONValue.integer) ?? .string(text)
        }
    }
  }
}

extension SignedIn {
  /// A numeric ID in the path.
  ///
  /// - Throws: 404 for anything else, because no resource has such an ID.
  func id(_ name: String) throws(Failure) -> Int {
    guard let text = parameters.get(name), let id = Int(text), id > 0 else { throw .notFound }
    return id
  }
}
