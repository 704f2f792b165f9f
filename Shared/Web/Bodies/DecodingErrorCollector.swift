import Foundation
import Wire

/// Finds all invalid fields of a body, where a decoder stops at the first: the body is decoded repeatedly, each time
/// with placeholder values for the fields that were invalid before.
enum DecodingErrorCollector {
  private static let fieldsMax = 16
  private static let roundsMax = 24
  /// For a larger body only the first invalid field is named, so that repeated decoding stays cheap.
  private static let bytesMax = 64 * 1024
  /// The sum over all rounds.
  private static let decodedBytesMax = 256 * 1024

  /// The validation failure for a body that could not be decoded.
  ///
  /// - Parameter first: the error of decoding it the first time.
  static func failure<T: Decodable>(_ first: DecodingError, decoding data: Data, as type: T.Type) -> Failure {
    var found = Failure(first).fields
    guard data.count <= bytesMax, found.count == 1 else { return Failure(first) }
    var skipped = SkippedFields()
    var latest = first
    let rounds = min(roundsMax, decodedBytesMax / max(data.count, 1))
    for _ in 0..<rounds where found.count < fieldsMax {
      guard skipped.add(latest.path) else { break }
      do {
        _ = try JSON.decode(SkippingBody<T>.self, from: data, userInfo: [.skippedFields: skipped])
        break
      } catch let next as DecodingError {
        found += Failure(next).fields.filter { !found.contains($0) }
        latest = next
      } catch {
        // The type's own validation failed, possibly because of a placeholder.
        break
      }
    }
    return .invalid(found)
  }
}

extension CodingKey {
  /// As a field path names it: array elements by their index.
  var pathPart: String { intValue.map(String.init) ?? stringValue }
}

extension DecodingError {
  fileprivate var path: [String] {
    switch self {
    case .keyNotFound(let key, let context): (context.codingPath + [key]).map(\.pathPart)
    case .valueNotFound(_, let context), .typeMismatch(_, let context), .dataCorrupted(let context):
      context.codingPath.map(\.pathPart)
    @unknown default: []
    }
  }
}

/// The fields of a body that are replaced by placeholders.
struct SkippedFields: Sendable {
  private var paths: Set<[String]> = []
  /// The last components of `paths`: a fast check that rules out most fields.
  private var names: Set<String> = []

  /// - Returns: whether another round of decoding can get further.
  mutating func add(_ path: [String]) -> Bool {
    var path = path
    while let name = path.last {
      names.insert(name)
      if paths.insert(path).inserted { return true }
      // This field has no placeholder; its parent may have one.
      path.removeLast()
    }
    return false
  }

  func contains(_ key: some CodingKey, in parent: @autoclosure () -> [any CodingKey]) -> Bool {
    names.contains(key.pathPart) && paths.contains(parent().map(\.pathPart) + [key.pathPart])
  }

  /// Any value of a type. nil when none of the samples can be decoded as one.
  static func placeholder<T: Decodable>(for type: T.Type) -> T? {
    if let type = type as? any ExpressibleByNilLiteral.Type { return type.init(nilLiteral: ()) as? T }
    if let type = type as? any CaseIterable.Type { return Self.first(of: type) as? T }
    for sample in samples {
      // `try?`: the next sample may be valid.
      if let value = try? JSON.decode(type, from: Data(sample.utf8)) { return value }
    }
    return nil
  }

  private static let samples = [
    "{}", "[]", #""a""#, #""00000000-0000-7000-8000-000000000000""#, #""2000-01-01T00:00:00Z""#, "1", "true",
    #""a@example.com""#, #""+15550001111""#,
  ]

  private static func first<T: CaseIterable>(of type: T.Type) -> Any? { type.allCases.first }
}

extension CodingUserInfoKey {
  // `!`: only an empty name is not a key.
  static let skippedFields = CodingUserInfoKey(rawValue: "SkippedFields")!
}
