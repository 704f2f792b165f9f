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

extension Failure {
  static let alreadySentToday = Failure(
    .malformed, "already_sent_today", "You have already sent a photo to this group today.")
  static let photoNotFound = Failure(.notFound, "photo_not_found", "There is no such photo.")
  static let photoGone = Failure(.gone, "photo_gone", "This photo has disappeared.")
  static let notOwnPhoto = Failure(.forbidden, "not_the_sender", "Only its sender may delete a photo.")
  static let linkExpired = Failure(.gone, "link_expired", "This link has expired.")
  static let linkInvalid = Failure(.forbidden, "invalid_link", "This link is not valid.")
}
