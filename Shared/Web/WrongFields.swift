import Foundation
import Wire

/// Names everything that is wrong with a body, which a decoder leaves at the first thing: the body is decoded again and
/// again, each time with a stand-in for the members that were wrong before.
enum WrongFields {
  private static let fieldsMax = 16
  private static let roundsMax = 24
  /// Decoding as often as there may be wrong fields must not cost much more than decoding once.
  private static let bytesMax = 64 * 1024
  /// Of all rounds together.
  private static let decodedBytesMax = 256 * 1024

  /// - Parameter first: why the body could not be decoded.
  static func failure<T: Decodable>(_ first: DecodingError, reading data: Data, as type: T.Type) -> Failure {
    var found = Failure(first).fields
    guard data.count <= bytesMax, found.count == 1 else { return Failure(first) }
    var passed = PassedMembers()
    var latest = first
    let rounds = min(roundsMax, decodedBytesMax / max(data.count, 1))
    for _ in 0..<rounds where found.count < fieldsMax {
      guard passed.add(latest.path) else { break }
      do {
        _ = try JSON.decode(PassingBody<T>.self, from: data, userInfo: [.passedMembers: passed])
        break
      } catch let next as DecodingError {
        found += Failure(next).fields.filter { !found.contains($0) }
        latest = next
      } catch {
        // A rule of the type's own, which may well be about the stand-ins.
        break
      }
    }
    return .invalid(found)
  }
}

extension CodingKey {
  /// As a path names it: elements by their number.
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

/// The members of a body for which a stand-in is decoded.
struct PassedMembers: Sendable {
  private var paths: Set<[String]> = []
  /// Their own names: most members of a body are told from them by these alone.
  private var names: Set<String> = []

  /// - Returns: whether decoding may get further with it.
  mutating func add(_ path: [String]) -> Bool {
    var path = path
    while let name = path.last {
      names.insert(name)
      if paths.insert(path).inserted { return true }
      // There is no stand-in for this one, but perhaps for what it is a part of.
      path.removeLast()
    }
    return false
  }

  func contains(_ key: some CodingKey, in parent: @autoclosure () -> [any CodingKey]) -> Bool {
    names.contains(key.pathPart) && paths.contains(parent().map(\.pathPart) + [key.pathPart])
  }

  /// Some value of a type. nil when it takes only what cannot be guessed.
  static func standIn<T: Decodable>(for type: T.Type) -> T? {
    if let type = type as? any ExpressibleByNilLiteral.Type { return type.init(nilLiteral: ()) as? T }
    if let type = type as? any CaseIterable.Type { return Self.first(of: type) as? T }
    for sample in samples {
      // `try?`: another one may do.
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
  // A name that is not empty is always a key.
  static let passedMembers = CodingUserInfoKey(rawValue: "PassedMembers")!
}
