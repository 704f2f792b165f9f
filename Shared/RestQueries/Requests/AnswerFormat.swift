/// The media type of an answer, chosen by `Accept`.
package enum AnswerFormat: Sendable, Hashable {
  /// - Parameter isStripped: whether members that are null are left out.
  case array(isStripped: Bool)
  /// One object: any other number of rows is a failure.
  case object(isStripped: Bool)
  case csv

  /// - Throws: ``RestFailure`` PGRST107 when none of the types is available.
  package init(accept: String?) throws {
    // What most clients send is not taken apart.
    guard let accept, accept != "*/*", accept != "application/json", !accept.allSatisfy({ $0 == " " }) else {
      self = .array(isStripped: false)
      return
    }
    guard let format = accept.split(separator: ",").lazy.compactMap(Self.format).first else {
      throw RestFailure.unacceptable(accept)
    }
    self = format
  }

  private static func format(_ range: Substring) -> AnswerFormat? {
    let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
    guard let type = parts.first, !parts.dropFirst().contains(where: { ["q=0", "q=0.0"].contains($0) }) else {
      return nil
    }
    let isStripped = parts.dropFirst().contains("nulls=stripped")
    switch type {
    case "*/*", "application/*", "application/json": return .array(isStripped: false)
    case "application/vnd.pgrst.array", "application/vnd.pgrst.array+json": return .array(isStripped: isStripped)
    case "application/vnd.pgrst.object", "application/vnd.pgrst.object+json":
      return .object(isStripped: isStripped)
    case "text/csv", "text/*": return .csv
    default: return nil
    }
  }

  var isStripped: Bool {
    switch self {
    case .array(let isStripped), .object(let isStripped): isStripped
    case .csv: false
    }
  }

  var isObject: Bool { if case .object = self { true } else { false } }

  var contentType: String {
    switch self {
    case .array(false): "application/json; charset=utf-8"
    case .array(true): "application/vnd.pgrst.array+json;nulls=stripped; charset=utf-8"
    case .object(false): "application/vnd.pgrst.object+json; charset=utf-8"
    case .object(true): "application/vnd.pgrst.object+json;nulls=stripped; charset=utf-8"
    case .csv: "text/csv; charset=utf-8"
    }
  }
}
