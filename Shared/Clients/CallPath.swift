/// A path of another service, written with ids in it; what is told of the call has only their places.
struct CallPath: ExpressibleByStringInterpolation {
  let text: String
  /// With `{}` where an id stands.
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
