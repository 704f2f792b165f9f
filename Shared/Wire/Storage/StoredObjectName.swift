import Foundation

/// The name of a file under `/storage/v1`: a bucket, the user whose file it is, and one to three further parts, as in
/// `photos/0190c1f2-…/hunts/1.jpg`.
package struct StoredObjectName: Hashable, Sendable, LosslessStringConvertible {
  package enum Bucket: String, Sendable, CaseIterable {
    /// Seen by the owner, and by who sees something that names the photo.
    case photos
    /// Seen by everybody.
    case avatars

    package var isPublic: Bool { self == .avatars }
  }

  package let bucket: Bucket
  package let owner: UserID
  /// The parts after the owner's id.
  package let parts: [String]

  package static let partsMax = 3
  package static let partLengthMax = 100

  /// nil unless there are one to three parts of 1 to 100 letters, digits, `.`, `_` and `-`, none of them `.` or `..`.
  package init?(_ bucket: Bucket, owner: UserID, parts: [String]) {
    guard (1...Self.partsMax).contains(parts.count), parts.allSatisfy(Self.isPart) else { return nil }
    self.bucket = bucket
    self.owner = owner
    self.parts = parts
  }

  /// - Parameter path: beginning with the owner's id, without the bucket.
  package init?(_ bucket: Bucket, path: some StringProtocol) {
    let parts = String(path).split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
    guard let owner = parts.first.flatMap({ UserID($0) }) else { return nil }
    self.init(bucket, owner: owner, parts: Array(parts.dropFirst()))
  }

  /// A bucket and a path.
  package init?(_ description: String) {
    let halves = description.split(separator: "/", maxSplits: 1)
    guard halves.count == 2, let bucket = Bucket(rawValue: String(halves[0])) else { return nil }
    self.init(bucket, path: halves[1])
  }

  /// The file that a URL names, as clients store it in a row: `https://…/storage/v1/object/public/avatars/…`, with
  /// `public`, `sign`, `authenticated` or none of them, and with or without host and query. nil for any other URL.
  package init?(url: String) {
    guard let start = url.range(of: "/storage/v1/object/")?.upperBound else { return nil }
    var name = url[start...].prefix { $0 != "?" && $0 != "#" }
    for access in ["public/", "sign/", "authenticated/"] where name.hasPrefix(access) {
      name = name.dropFirst(access.utf8.count)
      break
    }
    self.init(String(name))
  }

  /// Without the bucket. The owner's id is in lower case, however it was sent.
  package var path: String { ([owner.description] + parts).joined(separator: "/") }

  package var description: String { "\(bucket.rawValue)/\(path)" }

  private static func isPart(_ part: String) -> Bool {
    (1...partLengthMax).contains(part.utf8.count) && part != "." && part != ".."
      && part.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}

extension StoredObjectName: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let name = StoredObjectName(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "must be the name of a file")
    }
    self = name
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
