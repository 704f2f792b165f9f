/// A request path with ids, and its template without them for traces.
struct CallPath: ExpressibleByStringInterpolation {
  let text: String
  /// The path with `{}` in place of each id.
  let template: String

  init(stringLiteral text: String) {
    self.text = text
    template = text
  }

  init(stringInterpolation: StringInterpolation) {
    text = stringInterpolation.text
    template = stringInterpolation.template
  }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""
    fileprivate var template = ""

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ literal: String) {
      text += literal
      template += literal
    }

    mutating func appendInterpolation(_ id: some CustomStringConvertible) {
      text += id.description
      template += "{}"
    }
  }
}
