import Foundation

/// A body that is made from a ``JSONTree``, which takes less time than its decoder: for those between services that
/// are sent most, or have hundreds of members. A test of each such body calls `expectReadsWhatItDecodes(_:)`: nothing
/// else notices a member that was forgotten.
package protocol JSONTreeReadable: JSONReadable {
  /// - Throws: as ``JSONReadable/init(json:)``.
  init(_ tree: JSONTree) throws
}

extension JSONTreeReadable {
  package init(json: [UInt8]) throws { try self.init(JSONReader.tree(of: json, acceptsRepeatedNames: false)) }
}

/// A value is missing, or is of another type.
struct UnexpectedTree: Error {}

extension JSONTree {
  func member<T>(_ name: String, _ read: (JSONTree) throws -> T) throws -> T {
    guard let value = self[name] else { throw UnexpectedTree() }
    return try read(value)
  }

  /// nil where it is missing or null.
  func memberIfPresent<T>(_ name: String, _ read: (JSONTree) throws -> T) throws -> T? {
    guard let value = self[name], value != .null else { return nil }
    return try read(value)
  }

  func list<T>(_ read: (JSONTree) throws -> T) throws -> [T] {
    guard case .array(let elements) = self else { throw UnexpectedTree() }
    return try elements.map(read)
  }

  func stringValue() throws -> String {
    guard case .string(let text) = self else { throw UnexpectedTree() }
    return text
  }

  func boolValue() throws -> Bool {
    guard case .bool(let value) = self else { throw UnexpectedTree() }
    return value
  }

  /// Of a number without a fraction and without an exponent.
  func intValue() throws -> Int {
    guard case .number(let digits) = self, let value = Int(digits) else { throw UnexpectedTree() }
    return value
  }

  func time() throws -> Date {
    guard let time = RFC3339.parse(try stringValue()) else { throw UnexpectedTree() }
    return time
  }

  func id<Subject>() throws -> ID<Subject> {
    guard let id = ID<Subject>(try stringValue()) else { throw UnexpectedTree() }
    return id
  }
}
