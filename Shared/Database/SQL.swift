/// A statement whose interpolated values become bindings `$1`, `$2`, … and never part of the text.
///
/// ```swift
/// try db.change("update account set name = \(name) where id = \(id)")
/// ```
package struct SQL: Sendable, ExpressibleByStringInterpolation {
  package let text: String
  package let bindings: [Value]

  package init(stringLiteral text: String) {
    self.text = text
    self.bindings = []
  }

  package init(stringInterpolation interpolation: StringInterpolation) {
    self.text = interpolation.text
    self.bindings = interpolation.bindings
  }

  private init(text: String, bindings: [Value]) {
    self.text = text
    self.bindings = bindings
  }

  /// The statement behind a keyword, such as `explain`.
  package func preceded(by keyword: StaticString) -> SQL { SQL(text: "\(keyword) \(text)", bindings: bindings) }

  package struct StringInterpolation: StringInterpolationProtocol {
    var text = ""
    var bindings: [Value] = []

    package init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + 3 * interpolationCount)
      bindings.reserveCapacity(interpolationCount)
    }

    package mutating func appendLiteral(_ literal: String) { text += literal }

    package mutating func appendInterpolation(_ value: some Bindable) {
      bindings.append(value.binding)
      text += "$\(bindings.count)"
    }

    package mutating func appendInterpolation(_ value: (some Bindable)?) {
      bindings.append(value?.binding ?? .null)
      text += "$\(bindings.count)"
    }

    /// A fragment that several statements share. It must not have bindings.
    package mutating func appendInterpolation(_ fragment: SQL) {
      precondition(fragment.bindings.isEmpty, "a shared piece of SQL cannot have bindings")
      text += fragment.text
    }

    /// The values of an `in (…)` list. An empty list matches no row.
    package mutating func appendInterpolation(list values: [some Bindable]) {
      guard !values.isEmpty else { return text += "null" }
      for (index, value) in values.enumerated() {
        if index > 0 { text += ", " }
        appendInterpolation(value)
      }
    }
  }
}
