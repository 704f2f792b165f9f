import Database
import EventFeed
import Foundation
import Wire

/// What apps learn over their live channel: a scene of the user's is ready, or has failed.
enum TimepointEvents {
  /// - Parameter title: of a scene that is ready, for its notification.
  static func ended(
    _ timepoint: Timepoint, _ status: Timepoint.Status, title: String?, at now: Date, on db: any Connection
  ) {
    EventFeed.record(
      status == .completed ? "timepoint_ready" : "timepoint_failed", to: [EventTopic.user(timepoint.owner)],
      ["id": timepoint.id, "slug": timepoint.slug, "status": status.rawValue],
      push: title.map { PushDetails(subject: $0) }, of: timepoint.owner, at: now, on: db)
  }
}
