import Foundation
import Wire

typealias PhotoID = ID<Photo>

/// A member's photo of the day in a group, until it expires.
struct Photo: Sendable, Hashable {
  let id: PhotoID
  let group: GroupID
  let sender: UserID
  let createdAt: Date
  let expiresAt: Date

  /// In seconds.
  static let lifetime: TimeInterval = 48 * 60 * 60
}

extension Photo {
  /// A new photo. Its times are whole seconds: responses contain no fractions, and a photo must not outlive the expiry
  /// in a response.
  init(id: PhotoID, group: GroupID, sender: UserID, sentAt now: Date) {
    let start = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
    self.init(id: id, group: group, sender: sender, createdAt: start, expiresAt: start + Self.lifetime)
  }
}

extension PhotoID {
  /// Whether a photo with this id, if there ever was one, must have expired. It is computed from the id alone, so rows
  /// can be deleted and the answer reveals nothing.
  func hasEnded(at now: Date) -> Bool {
    guard let seconds = timestamp?.timeIntervalSince1970.rounded(.down) else { return false }
    return Date(timeIntervalSince1970: seconds) + Photo.lifetime <= now
  }

  func isOlder(than time: Date) -> Bool { timestamp.map { $0 <= time } ?? false }

  /// The time in a UUID of version 7 (RFC 9562 §5.7); nil for other versions.
  private var timestamp: Date? {
    let bytes = uuid.uuid
    guard bytes.6 >> 4 == 7 else { return nil }
    let milliseconds = [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5].reduce(0) { $0 << 8 | Int64($1) }
    return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }
}

/// The sizes in which a photo is stored: the maximum number of pixels of the longer side.
enum PhotoSize: Int, Sendable, CaseIterable {
  case large = 1080
  case small = 320
}

extension Failure {
  static let alreadySentToday = Failure(
    .malformed, "already_sent_today", "You have already sent a photo to this group today.")
  static let photoNotFound = Failure(.notFound, "photo_not_found", "There is no such photo.")
  static let photoGone = Failure(.gone, "photo_gone", "This photo has disappeared.")
  static let notOwnPhoto = Failure(.forbidden, "not_the_sender", "Only its sender may delete a photo.")
  static let linkExpired = Failure(.gone, "link_expired", "This link has expired.")
  static let linkInvalid = Failure(.forbidden, "invalid_link", "This link is not valid.")

  static let photoTooLarge = Failure(.tooLarge, "photo_too_large", "A photo has at most 10 MB.")
  static let uploadIncomplete = Failure(.malformed, "upload_incomplete", "The upload ended too early.")
  static let photoTypeUnsupported = Failure(
    .unsupportedType, "unsupported_media_type", "Send a photo as JPEG, PNG or HEIC.")
  static let photoUnreadable = Failure(.unprocessable, "photo_unreadable", "This photo cannot be read.")
  static let photoTooManyPixels = Failure(
    .unprocessable, "photo_too_many_pixels", "A photo has at most 50 megapixels.")
  static let photoTooSlow = Failure(.unprocessable, "photo_too_complex", "This photo takes too long to read.")
  static let photosBusy = Failure(
    .unavailable, "photos_busy", "Too many photos are arriving at the moment.", retryAfterSeconds: 2)
  static let storageFull = Failure(
    .unavailable, "storage_full", "Photos cannot be kept at the moment.", retryAfterSeconds: 60)
}
