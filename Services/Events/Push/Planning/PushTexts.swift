import Foundation
import Web
import Wire

/// The texts of notifications, by language. `{actor}` is who has caused it, `{subject}` what it is about, `{count}` a
/// number. A key has up to two variants: with `.subject` for when the subject is known.
struct PushTexts: Sendable {
  private let languages: [String: [String: String]]
  private static let fallback = "en"
  /// Of a name or title that a text contains.
  private static let partBytesMax = 300

  /// The texts that are part of the program.
  init() throws {
    let files: [(String, [UInt8])] = [
      ("en", PackageResources.en_json), ("de", PackageResources.de_json), ("es", PackageResources.es_json),
      ("fr", PackageResources.fr_json), ("pt", PackageResources.pt_json),
    ]
    let languages = try files.map { ($0, try JSON.decode([String: String].self, from: Data($1))) }
    self.init(languages: Dictionary(uniqueKeysWithValues: languages))
  }

  init(languages: [String: [String: String]]) { self.languages = languages }

  var all: [String: [String: String]] { languages }

  /// - Parameter locale: a language tag (BCP 47); English for nil and for languages without texts.
  func text(_ key: String, locale: String?, actor: String? = nil, subject: String? = nil, count: Int? = nil) -> String {
    let language = locale?.split(whereSeparator: { $0 == "-" || $0 == "_" }).first.map { $0.lowercased() }
    let texts = language.flatMap { languages[$0] } ?? languages[Self.fallback] ?? [:]
    let variant = subject == nil ? nil : texts["\(key).subject"]
    let actor = actor.flatMap { $0.isEmpty ? nil : $0 } ?? texts["somebody"] ?? ""
    // One pass, so that a name with braces stays as it is.
    var text = ""
    var rest = Substring(variant ?? texts[key] ?? "")
    while let match = rest.firstMatch(of: /\{(actor|subject|count)\}/) {
      text += rest[..<match.range.lowerBound]
      switch match.1 {
      case "actor": text += Self.cut(actor)
      case "subject": text += Self.cut(subject ?? "")
      default: text += count.map(String.init) ?? ""
      }
      rest = rest[match.range.upperBound...]
    }
    let whole = text + rest
    // The name of somebody unknown may begin a sentence.
    return whole.prefix(1).uppercased() + whole.dropFirst()
  }

  private static func cut(_ part: String) -> String {
    let line = part.split(whereSeparator: \.isNewline).joined(separator: " ")
    guard line.utf8.count > partBytesMax else { return line }
    var bytes = 0
    let kept = line.prefix { character in
      bytes += character.utf8.count
      return bytes <= partBytesMax
    }
    return kept + "…"
  }
}
