import Foundation
import Tokens
import Wire

/// Makes and checks the addresses that let an app fetch a photo, or send one, without a bearer (HMAC-SHA256 over what
/// they say). One to look at a photo is for one viewer, so that leaving the group, or a block, ends it too.
struct PhotoLinks: Sendable {
  /// Scheme and host under which the world knows this server.
  private let base: String
  private let digester: DataKeys.Digester

  static let lifetime: TimeInterval = 60 * 60
  /// Of an address to which a photo is to be sent; one in a bucket cannot be taken back when the photo has come.
  static let uploadLifetime: TimeInterval = 15 * 60
  /// A link changes no more often than this, so that apps find again what they have kept under it.
  private static let step: TimeInterval = 15 * 60

  init(keys: DataKeys, base: String) {
    self.base = base
    digester = keys.digester(for: "photo link")
  }

  /// What a link lets its holder do.
  enum Permission: Sendable, Hashable {
    case view(PhotoID, PhotoSize, UserID)
    case upload(PhotoID)
  }

  /// Good for the best part of an hour, and never longer than the photo.
  func view(_ photo: Photo, _ size: PhotoSize, by viewer: UserID, at now: Date) -> String {
    let latest = ((now.timeIntervalSince1970 + Self.lifetime) / Self.step).rounded(.down) * Self.step
    let end = min(Date(timeIntervalSince1970: latest), photo.expiresAt)
    return link(.view(photo.id, size, viewer), until: end)
  }

  func upload(_ photo: PhotoID, until end: Date) -> String { link(.upload(photo), until: end) }

  /// - Throws: 403 for a signature that is not ours, 410 once the link's time is over.
  func check(_ permission: Permission, expires: String?, signature: String?, at now: Date) throws(Failure) {
    guard let expires, let seconds = Int64(expires), let signature = Base64URL.decode((signature ?? "").utf8) else {
      throw .linkInvalid
    }
    let digests = digester.digests(of: Self.content(permission, seconds))
    guard digests.contains(where: { Self.same($0, signature) }) else { throw .linkInvalid }
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

  /// In the same time wherever they differ.
  private static func same(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
