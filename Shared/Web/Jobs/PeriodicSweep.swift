import Logging
import ServiceLifecycle

/// A background job that deletes rows that are no longer needed: at an interval, in batches, until graceful shutdown.
package protocol PeriodicSweep: Service {
  var interval: Duration { get }
  var logger: Logger { get }
  /// The warning that is logged when a batch fails. What is left is deleted after the next interval.
  var failureMessage: Logger.Message { get }

  /// Deletes at most `limit` rows of each kind.
  ///
  /// - Returns: how many rows were deleted; of several kinds, the highest number.
  func deleteBatch(limit: Int) async throws -> Int
}

extension PeriodicSweep {
  package func run() async throws {
    await cancelWhenGracefulShutdown {
      await repeatUntilCancelled(every: interval) {
        do { try await sweep() } catch { logger.warning(failureMessage, metadata: ["error": "\(error)"]) }
      }
    }
  }

  /// Deletes batches until one is not full.
  package func sweep() async throws {
    while try await deleteBatch(limit: batchSize) >= batchSize, !Task.isCancelled {}
  }
}

private let batchSize = 500
