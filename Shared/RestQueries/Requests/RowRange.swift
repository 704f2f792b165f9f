/// The header `Range: 10-19` of a GET: rows, counted from zero.
struct RowRange {
  let first: Int
  let last: Int?

  /// - Returns: nil for another unit, and for a text that is not a range.
  /// - Throws: ``RestFailure`` PGRST103 when it ends before it begins.
  init?(_ text: String?, unit: String?) throws {
    guard let text, unit?.lowercased() ?? "items" == "items" else { return nil }
    let parts = (text.hasPrefix("items=") ? text.dropFirst(6) : text[...])
      .split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let first = Int(parts[0]), (0...QueryBounds.offsetMax).contains(first) else { return nil }
    guard parts[1].isEmpty || Int(parts[1]) != nil else { return nil }
    self.first = first
    last = Int(parts[1])
    if let last, last < first {
      throw RestFailure.badRange(
        "The lower boundary must be lower than or equal to the upper boundary in the Range header.")
    }
  }
}

extension Resource {
  /// Lessens the page to a range.
  mutating func intersect(_ range: RowRange) {
    let end = limit.map { offset + min($0, QueryBounds.offsetMax) }
    offset = max(offset, range.first)
    let ends = [end, range.last.map { min($0, 2 * QueryBounds.offsetMax) + 1 }].compactMap(\.self)
    limit = ends.min().map { max(0, $0 - offset) }
  }
}
