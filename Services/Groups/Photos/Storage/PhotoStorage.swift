import Foundation
import Logging
import Web

/// The storage of photos that `PHOTO_STORAGE` configures.
struct PhotoStorage: Sendable {
  let files: PhotoFileCache
  /// A folder on this machine for uploads that are not rendered yet. It may be the storage of photos as well.
  let local: PhotoFolder

  /// - Throws: ``StartFailure`` when it is neither `file:///…` nor `s3://bucket?endpoint=…&region=…`, when credentials
  ///   are missing, or when the folder cannot be created.
  init(_ settings: Settings, logger: Logger) throws {
    let folder = settings.string("DATA_DIR", default: "data") + "/photos"
    let text = settings.nonempty("PHOTO_STORAGE") ?? ""
    guard text.isEmpty || text.hasPrefix("file://") else {
      files = PhotoFileCache(try Self.bucket(text, settings, logger))
      local = try Self.folder(folder)
      return
    }
    // With two slashes it would be a path relative to the working directory.
    guard text.isEmpty || text.hasPrefix("file:///") else { throw Self.unusable }
    local = try Self.folder(text.isEmpty ? folder : String(text.dropFirst("file://".count)))
    files = PhotoFileCache(local)
  }

  private static let unusable = StartFailure(
    "PHOTO_STORAGE must be file:///folder or s3://bucket?endpoint=…&region=…")

  private static func folder(_ path: String) throws -> PhotoFolder {
    do { return try PhotoFolder(path) } catch { throw StartFailure("the folder for photos, \(path), cannot be made") }
  }

  private static func bucket(_ text: String, _ settings: Settings, _ logger: Logger) throws -> PhotoBucket {
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
    return PhotoBucket(bucket: bucket, endpoint: endpoint, signer: signer, logger: logger)
  }
}
