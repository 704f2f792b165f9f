import Foundation
import Logging
import Web

/// What `PHOTO_STORAGE` says: where photos are kept.
struct PhotoStorage: Sendable {
  let files: RecentPhotoFiles
  /// A folder of this machine, in which uploads lie until they have been looked at. Photos may be kept there too.
  let local: PhotoFolder

  /// - Throws: ``StartFailure`` when it is neither `file:///…` nor `s3://bucket?endpoint=…&region=…`, when credentials are
  ///   missing, or when the folder cannot be made.
  init(_ settings: Settings, logger: Logger) throws {
    let folder = settings.string("DATA_DIR", default: "data") + "/photos"
    let text = settings.nonempty("PHOTO_STORAGE") ?? ""
    guard text.isEmpty || text.hasPrefix("file://") else {
      files = RecentPhotoFiles(try Self.bucket(text, settings, logger))
      local = try Self.folder(folder)
      return
    }
    // Two slashes would make it a folder below the present one.
    guard text.isEmpty || text.hasPrefix("file:///") else { throw Self.unusable }
    local = try Self.folder(text.isEmpty ? folder : String(text.dropFirst("file://".count)))
    files = RecentPhotoFiles(local)
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
    let signature = S3Signature(
      accessKey: key, secret: secret, sessionToken: settings.nonempty("AWS_SESSION_TOKEN"), region: region)
    return PhotoBucket(bucket: bucket, endpoint: endpoint, signature: signature, logger: logger)
  }
}
