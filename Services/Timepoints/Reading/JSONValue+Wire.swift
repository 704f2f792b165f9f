import ClientBodies
import Wire

extension ClientBodies.JSONValue {
  init(_ value: Wire.JSONValue) {
    self =
      switch value {
      case .null: .null
      case .bool(let value): .bool(value)
      case .integer(let value): .int(value)
      case .number(let value): .double(value)
      case .string(let value): .string(value)
      case .array(let values): .array(values.map { Self($0) })
      case .object(let members): .object(members.mapValues { Self($0) })
      }
  }
}
