import Logging
import ServiceLifecycle
import Web

/// Keeps what the database has of this process alive, and ends what it has of replicas that are not.
struct ReplicaMaintenance: Service {
  let lease: ReplicaLease
  let conversations: Conversations
  /// nil where there is one process.
  let connections: OpenConnections?
  let topics: OpenTopics?
  /// Only sockets learn who is present.
  let hasSockets: @Sendable () -> Bool
  let logger: Logger
  var interval = Duration.seconds(5)

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await repeatUntilCancelled(every: interval) {
        if hasSockets() || connections?.isInUse == true { await maintain() }
      }
    }
    // All connections are closed. `try?`: without the database the lease ends by itself.
    try? await lease.end()
  }

  private func outcome(_ work: () async throws -> Void) async -> Result<Void, any Error> {
    do { return .success(try await work()) } catch { return .failure(error) }
  }

  private func maintain() async {
    do {
      try await lease.extend()
      let hasLapsed = lease.takeLapse()
      if hasLapsed { topics?.restore() }
      // Each keeps in mind that there was a lapse until it has done its part.
      let outcomes = [
        await outcome { try await connections?.maintain(hasLapsed: hasLapsed) },
        await outcome { try await conversations.maintain(hasLapsed: hasLapsed) },
      ]
      for outcome in outcomes { try outcome.get() }
    } catch {
      guard !Task.isCancelled else { return }
      logger.warning("the lease of this replica was not maintained", metadata: ["error": "\(error)"])
    }
  }
}
