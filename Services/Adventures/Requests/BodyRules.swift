import RestQueries
import Wire

/// Checks of the JSON in a body that no constraint of a table makes.
extension RestOperation {
  var isInsert: Bool { request.method != .patch && request.method != .delete }

  /// - Throws: ``RestQueries/RestFailure`` 23514 when a row has the member and its value does not pass.
  func require(_ column: String, _ what: String, _ isValid: (JSONTree) -> Bool) throws {
    for row in body?.rows ?? [] {
      guard let value = row[column], value != .null else { continue }
      guard isValid(value) else { throw RestFailure.invalid(column, what, in: table.name) }
    }
  }
}

extension JSONTree {
  var isObject: Bool { if case .object = self { true } else { false } }
  var isArray: Bool { if case .array = self { true } else { false } }

  /// `{"latitude": 37.77, "longitude": -122.41}`, with whatever else an app keeps there.
  var isLocation: Bool {
    guard let latitude = self["latitude"]?.number, let longitude = self["longitude"]?.number else { return false }
    return abs(latitude) <= 90 && abs(longitude) <= 180
  }

  var string: String? { if case .string(let text) = self { text } else { nil } }

  private var number: Double? { if case .number(let digits) = self { Double(digits) } else { nil } }
}

extension RestFailure {
  static func invalid(_ column: String, _ what: String, in table: String) -> RestFailure {
    RestFailure(
      400, "23514", "new row for relation \"\(table)\" violates check constraint \"\(table)_\(column)\"",
      details: "\(column) \(what)")
  }
}
