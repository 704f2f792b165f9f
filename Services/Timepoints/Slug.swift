import Foundation

/// The readable name of a timepoint in links: the query in lower-case letters, digits and hyphens, and six random
/// characters.
enum Slug {
  static let bytesMax = 100
  private static let suffixCount = 6
  private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789")

  static func new(for query: String) -> String {
    let suffix = String((0..<suffixCount).map { _ in alphabet[Int.random(in: alphabet.indices)] })
    let words = words(of: query, bytesMax: bytesMax - suffixCount - 1)
    return words.isEmpty ? suffix : "\(words)-\(suffix)"
  }

  /// Letters with marks lose them; what is not Latin is left out.
  private static func words(of query: String, bytesMax: Int) -> String {
    let plain = query.folding(options: .diacriticInsensitive, locale: nil)
    let words = plain.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    return String(words.joined(separator: "-").prefix(bytesMax)).trimmingCharacters(in: ["-"])
  }
}
