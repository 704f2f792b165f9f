/// The `Prefer` headers (RFC 7240) of a request: of each name the first value that is known counts.
package struct Preferences: Sendable, Hashable {
  package enum Return: String, Sendable { case minimal, representation, headersOnly = "headers-only" }
  package enum Count: String, Sendable { case exact, planned, estimated }
  package enum Resolution: String, Sendable {
    case mergeDuplicates = "merge-duplicates"
    case ignoreDuplicates = "ignore-duplicates"
  }
  package enum Missing: String, Sendable { case `default`, null }
  package enum Handling: String, Sendable { case strict, lenient }

  package var returns: Return?
  package var count: Count?
  package var resolution: Resolution?
  package var missing: Missing?
  package var handling: Handling?
  package var affectedMax: Int?
  /// Whether there was a header at all.
  package let isEmpty: Bool
  private var unknown: [String] = []

  /// - Throws: ``RestFailure`` PGRST122 when `handling=strict` goes with a preference that is not known.
  package init(_ headers: [String]) throws {
    let texts = headers.flatMap { $0.split(separator: ",") }
    isEmpty = texts.isEmpty
    for text in texts { read(String(text).filter { $0 != " " && $0 != "\t" }) }
    guard handling != .strict || unknown.isEmpty else { throw RestFailure.unknownPreferences(unknown) }
    if handling != .strict { affectedMax = nil }
  }

  private mutating func read(_ text: String) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let value = parts.count == 2 ? String(parts[1]) : ""
    switch parts.first {
    case "return": keep(Return(rawValue: value), in: \.returns, text)
    case "count": keep(Count(rawValue: value), in: \.count, text)
    case "resolution": keep(Resolution(rawValue: value), in: \.resolution, text)
    case "missing": keep(Missing(rawValue: value), in: \.missing, text)
    case "handling": keep(Handling(rawValue: value), in: \.handling, text)
    case "max-affected": keep(Int(value).flatMap { $0 >= 0 ? $0 : nil }, in: \.affectedMax, text)
    // Known to PostgREST, whose servers do not apply the first by default; times are in UTC here.
    case "tx" where value == "commit" || value == "rollback", "timezone": break
    default: unknown.append(text)
    }
  }

  private mutating func keep<T>(_ value: T?, in path: WritableKeyPath<Preferences, T?>, _ text: String) {
    guard let value else { return unknown.append(text) }
    self[keyPath: path] = self[keyPath: path] ?? value
  }

  /// The value of `Preference-Applied`; nil when none was.
  func applied(to method: RestRequest.Method) -> String? {
    var applied: [String] = []
    let isWrite = method != .get && method != .head
    if method == .post, let resolution { applied.append("resolution=\(resolution.rawValue)") }
    if method.hasBody, let missing { applied.append("missing=\(missing.rawValue)") }
    if isWrite, let returns { applied.append("return=\(returns.rawValue)") }
    if let count { applied.append("count=\(count.rawValue)") }
    if let handling { applied.append("handling=\(handling.rawValue)") }
    if method == .patch || method == .delete, let affectedMax { applied.append("max-affected=\(affectedMax)") }
    return applied.isEmpty ? nil : applied.joined(separator: ", ")
  }
}
