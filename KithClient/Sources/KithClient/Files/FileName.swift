/// The name of a file: its bucket, and its path in it, which begins with the id of its owner.
public struct FileName: Sendable, Hashable {
  /// Who may see a file.
  public enum Bucket: String, Sendable {
    /// For the user, and for who sees a submission of a hunt that names the file.
    case photos
    /// For everybody.
    case avatars
  }

  public let bucket: Bucket
  /// Such as `{user}/door.jpg`; at most three names after the user's.
  public let path: String

  /// - Parameter path: begins with the id of the owner.
  public init(_ path: String, in bucket: Bucket) {
    self.bucket = bucket
    self.path = path
  }
}
