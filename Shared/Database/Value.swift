import Foundation
import Wire

/// A column value on both engines. Times are text in UTC with milliseconds, ids are text, booleans are 0 and 1.
public enum Value: Sendable, Hashable {
  case null
  case integer(Int64)
  case text(String)
  case bytes([UInt8])
}

/// A ``Value`` whose text or bytes belong to another.
package enum BorrowedValue {
  case null
  case integer(Int64)
  case text(UnsafeBufferPointer<UInt8>)
  case bytes(UnsafeBufferPointer<UInt8>)
}

extension Value {
  /// Calls `body` with the same value, of which nothing is copied. It must not outlive the call.
  package func borrowed(_ body: (BorrowedValue) -> Void) {
    switch self {
    case .null: body(.null)
    case .integer(let number): body(.integer(number))
    case .text(var text): text.withUTF8 { body(.text($0)) }
    case .bytes(let bytes): bytes.withUnsafeBufferPointer { body(.bytes($0)) }
    }
  }
}

/// A type that can be interpolated into ``SQL``.
package protocol Bindable {
  var binding: Value { get }
}

extension Value: Bindable {
  package var binding: Value { self }
}

/// A type that a column value can be converted to.
public protocol ColumnValue {
  /// Returns nil when the value is not of this type.
  init?(column: Value)
}

extension Int: Bindable, ColumnValue {
  package var binding: Value { .integer(Int64(self)) }

  public init?(column: Value) {
    guard case .integer(let value) = column else { return nil }
    self.init(exactly: value)
  }
}

extension Bool: Bindable, ColumnValue {
  package var binding: Value { .integer(self ? 1 : 0) }

  public init?(column: Value) {
    guard case .integer(let value) = column else { return nil }
    self = value != 0
  }
}

extension String: Bindable, ColumnValue {
  package var binding: Value { .text(self) }

  public init?(column: Value) {
    guard case .text(let value) = column else { return nil }
    self = value
  }
}

extension [UInt8]: Bindable, ColumnValue {
  package var binding: Value { .bytes(self) }

  public init?(column: Value) {
    guard case .bytes(let value) = column else { return nil }
    self = value
  }
}

extension Date: Bindable, ColumnValue {
  package var binding: Value { .text(RFC3339.milliseconds(self)) }

  public init?(column: Value) {
    guard case .text(let text) = column, let date = RFC3339.parse(text) else { return nil }
    self = date
  }
}

extension ID: Bindable, ColumnValue {
  package var binding: Value { .text(description) }

  package init?(column: Value) {
    guard case .text(let text) = column else { return nil }
    self.init(text)
  }
}
