/// What a notification is about, as users switch it on and off.
enum NotificationKind: String, Codable, Sendable, CaseIterable {
  case newPhotos = "new_photos"
  case added
  case inviteAccepted = "invite_accepted"
  case taskAssigned = "task_assigned"
  case dueSoon = "due_soon"
  case nudge
  case huntStarted = "hunt_started"
  case etaShared = "eta_shared"
  case timepointReady = "timepoint_ready"
  case credits
  case security

  /// Whether it comes at once, whatever the kind's switch, the quiet hours and the limit per hour say.
  var isUrgent: Bool { self == .security }
}
