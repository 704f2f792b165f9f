import Foundation
import Logging
import Web

/// The storage of photos that `PHOTO_STORAGE` configures, or the part of it that belongs to one owner.
package struct PhotoStorage: Sendable {
  package let files: PhotoFileCache
  /// A folder on this machine for uploads that are not rendered yet. It may be the storage of photos as well.
  package let local: PhotoFolder

  /// - Parameter part: the name of the folder within the storage, or of the prefix within the bucket, whose files belong
  ///   to the caller alone, such as `objects`. Without one these are the files of groups, which have no prefix.
  /// - Throws: ``StartFailure`` when `PHOTO_STORAGE` is neither `file:///…` nor `s3://bucket?endpoint=…&region=…`, when
  ///   credentials are missing, or when the folder cannot be created.
  package init(_ settings: Settings, part: StaticString? = nil, logger: Logger) throws {
    let suffix = part.map { "/\($0)" } ?? ""
    let folder = settings.string("DATA_DIR", default: "data") + "/photos\(suffix)"
    let text = settings.nonempty("PHOTO_STORAGE") ?? ""
    guard text.isEmpty || text.hasPrefix("file://") else {
      files = PhotoFileCache(try Self.bucket(text, prefix: part.map { "\($0)/" } ?? "", settings, logger))
      local = try Self.folder(folder)
      return
    }
    // With two slashes it would be a path relative to the working directory.
    guard text.isEmpty || text.hasPrefix("file:///") else { throw Self.unusable }
    local = try Self.folder(text.isEmpty ? folder : text.dropFirst("file://".count) + suffix)
    files = PhotoFileCache(local)
  }

  private static let unusable = StartFailure(
    "PHOTO_STORAGE must be file:///folder or s3://bucket?endpoint=…&region=…")

  private static func folder(_ path: String) throws -> PhotoFolder {
    do { return try PhotoFolder(path) } catch { throw StartFailure("the folder for photos, \(path), cannot be made") }
  }

  private static func bucket(
    _ text: String, prefix: String, _ settings: Settings, _ logger: Logger
  ) throws -> PhotoBucket {
    guard let url = URLComponents(string: text), url.scheme == "s3", let bucket = url.host,
      bucket.wholeMatch(of: /[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/) != nil, url.path.isEmpty || url.path == "/"
    else { throw unusable }
    func parameter(_ name: String) -> String? { url.queryItems?.first { $0.name == name }?.value }
    let region = parameter("region") ?? "us-east-1"
    let endpoint = parameter("endpoint") ?? "https://s3.\(region).amazonaws.com"
    guard endpoint.wholeMatch(of: /https?:\/\/[^\/?#@]+/) != nil else {
      throw StartFailure("the endpoint in PHOTO_STORAGE must be https://host or https://host:port")
    }
    guard let key = settings.nonempty("AWS_ACCESS_KEY_ID"), let secret = settings.nonempty("AWS_SECRET_ACCESS_KEY")
    else { throw StartFailure("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set for PHOTO_STORAGE") }
    let signer = S3Signer(
      accessKey: key, secret: secret, sessionToken: settings.nonempty("AWS_SESSION_TOKEN"), region: region)
    return PhotoBucket(bucket: bucket, prefix: prefix, endpoint: endpoint, signer: signer, logger: logger)
  }
}
