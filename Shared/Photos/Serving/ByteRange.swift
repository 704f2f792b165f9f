import Wire

/// A single byte range of a `Range` header (RFC 9110 §14.1.2).
package enum ByteRange: Sendable, Hashable {
  case from(Int, through: Int?)
  case last(Int)

  /// nil for a header that a server may ignore: none, another unit, several ranges, invalid syntax.
  package init?(header: String?) {
    guard let header, header.lowercased().hasPrefix("bytes=") else { return nil }
    let text = header.dropFirst("bytes=".count)
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }) else { return nil }
    switch (Int(parts[0]), Int(parts[1])) {
    case (let first?, nil) where parts[1].isEmpty: self = .from(first, through: nil)
    case (let first?, let last?) where first <= last: self = .from(first, through: last)
    case (nil, let count?) where parts[0].isEmpty: self = .last(count)
    default: return nil
    }
  }

  /// - Throws: when the range does not overlap a file of `count` bytes.
  package func resolved(in count: Int) throws(RangeNotSatisfiable) -> Range<Int> {
    switch self {
    case .from(let first, let last):
      guard first < count else { throw RangeNotSatisfiable(totalCount: count) }
      return first..<(min(last ?? count - 1, count - 1) + 1)
    case .last(let length):
      guard length > 0, count > 0 else { throw RangeNotSatisfiable(totalCount: count) }
      return max(0, count - length)..<count
    }
  }

  package var header: String {
    switch self {
    case .from(let first, let last): "bytes=\(first)-\(last.map(String.init) ?? "")"
    case .last(let length): "bytes=-\(length)"
    }
  }
}

/// The requested range does not overlap the file.
package struct RangeNotSatisfiable: Error {
  package let totalCount: Int

  package init(totalCount: Int) { self.totalCount = totalCount }
}
