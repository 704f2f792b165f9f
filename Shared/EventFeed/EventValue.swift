import Foundation
import Wire

/// A value in the payload or the record of an event. Nil is null.
package protocol EventValue: Sendable {
  var json: JSONValue { get }
}

extension Int: EventValue {
  package var json: JSONValue { .integer(self) }
}

extension Bool: EventValue {
  package var json: JSONValue { .bool(self) }
}

extension String: EventValue {
  package var json: JSONValue { .string(self) }
}

extension Date: EventValue {
  package var json: JSONValue { .string(RFC3339.milliseconds(self)) }
}

extension ID: EventValue {
  package var json: JSONValue { .string(description) }
}

extension Array: EventValue where Element: EventValue {
  package var json: JSONValue { .array(map(\.json)) }
}

extension Optional: EventValue where Wrapped: EventValue {
  package var json: JSONValue { self?.json ?? .null }
}

extension JSONValue {
  /// An object.
  package init(_ members: [String: any EventValue]) { self = .object(members.mapValues(\.json)) }
}

extension JSONValue: EventValue {
  package var json: JSONValue { self }
}
