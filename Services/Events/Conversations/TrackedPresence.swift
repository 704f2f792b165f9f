import Foundation
import Wire

/// What a channel has tracked. Lives on the event loop of its socket.
final class TrackedPresence {
  /// nil after it was untracked.
  var entry: PresenceStore.Entry?
  /// The last change, after which the next begins, so that their order stays.
  var work: Task<Void, Never>?
}
