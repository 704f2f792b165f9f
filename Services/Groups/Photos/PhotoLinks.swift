import Foundation
import Photos
import Tokens
import Web
import Wire

/// Makes and checks signed links with which an app downloads or uploads a photo without a bearer token (HMAC-SHA256
/// over their parameters). A download link is for one viewer, so that leaving the group, or a block, revokes it.
struct PhotoLinks: Sendable {
  /// Scheme and host of this server's public URL.
  private let base: String
  private let digester: DataKeys.Digester

  /// The maximum lifetime of a download link, in seconds.
  static let lifetime: TimeInterval = 60 * 60
  /// The lifetime of an upload link, in seconds. A presigned URL of a bucket cannot be revoked after the upload.
  static let uploadLifetime: TimeInterval = 15 * 60
  /// Expiry times are multiples of this, so that links change rarely and apps find files in their caches by URL.
  private static let expiryInterval: TimeInterval = 15 * 60

  init(keys: DataKeys, base: String) {
    self.base = base
    digester = keys.digester(for: "photo link")
  }

  /// What the holder of a link may do.
  enum Permission: Sendable, Hashable {
    case view(PhotoID, PhotoSize, UserID)
    case upload(PhotoID)
  }

  /// A download link that is valid for 45 to 60 minutes, but never longer than the photo.
  func view(_ photo: Photo, _ size: PhotoSize, by viewer: UserID, at now: Date) -> String {
    let latest =
      ((now.timeIntervalSince1970 + Self.lifetime) / Self.expiryInterval).rounded(.down) * Self.expiryInterval
    let end = min(Date(timeIntervalSince1970: latest), photo.expiresAt)
    return link(.view(photo.id, size, viewer), until: end)
  }

  func upload(_ photo: PhotoID, until end: Date) -> String { link(.upload(photo), until: end) }

  /// - Throws: 403 for an invalid signature, 410 for an expired link.
  func check(_ permission: Permission, expires: String?, signature: String?, at now: Date) throws(Failure) {
    guard let expires, let seconds = Int64(expires), let signature = Base64URL.decode((signature ?? "").utf8) else {
      throw .linkInvalid
    }
    let digests = digester.digests(of: Self.content(permission, seconds))
    guard digests.contains(where: { ConstantTime.areEqual($0, signature) }) else { throw .linkInvalid }
    guard now < Date(timeIntervalSince1970: Double(seconds)) else { throw .linkExpired }
  }

  private func link(_ permission: Permission, until end: Date) -> String {
    let seconds = Int64(clamping: Int(end.timeIntervalSince1970.rounded(.down)))
    let digest = digester.digests(of: Self.content(permission, seconds)).first ?? []
    let signed = "expires=\(seconds)&signature=\(Base64URL.encode(digest))"
    switch permission {
    case .view(let photo, let size, let viewer):
      return "\(base)/api/photos/\(photo)/file?size=\(size.rawValue)&viewer=\(viewer)&\(signed)"
    case .upload(let photo): return "\(base)/api/photos/\(photo)/file?\(signed)"
    }
  }

  private static func content(_ permission: Permission, _ seconds: Int64) -> Data {
    switch permission {
    case .view(let photo, let size, let viewer): Data("view \(photo) \(size.rawValue) \(viewer) \(seconds)".utf8)
    case .upload(let photo): Data("upload \(photo) \(seconds)".utf8)
    }
  }
}
