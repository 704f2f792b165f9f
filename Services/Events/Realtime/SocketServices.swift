import Foundation
import Wire

/// What every socket of a process works with.
struct SocketServices: Sendable {
  let store: LogStore
  let rights: TopicRights
  let verifier: CredentialVerifier
  let limits: ConnectionLimits
  let metrics: EventMetrics
  let hub: RealtimeHub
  let conversations: Conversations
  /// Bounds how many sockets read the log at the same time: after a restart all of them come back at once.
  let reads: ConcurrencyLimit
  let settings: SocketSettings
}
