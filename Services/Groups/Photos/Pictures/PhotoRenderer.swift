import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Wire

/// Renders photos on threads of its own, as many at once as there are cores. Who comes while too many wait is turned
/// away, as memory and patience have an end.
final class PhotoRenderer: Sendable {
  private static let threadCount = min(max(System.coreCount, 1), 8)
  /// Shared by all renderers of the process, as the cores are; never stopped.
  private static let threads: NIOThreadPool = {
    let threads = NIOThreadPool(numberOfThreads: threadCount)
    threads.start()
    return threads
  }()

  private let countMax: Int
  private let limit: Duration
  private let count = Atomic(0)

  /// - Parameters:
  ///   - countMax: how many photos may wait or be rendered at once.
  ///   - limit: how long one may take.
  init(countMax: Int = 16 * threadCount, limit: Duration = .seconds(10)) {
    self.countMax = countMax
    self.limit = limit
  }

  /// - Throws: 415 for what is no photo, 422 for one that cannot be rendered, 503 when too many wait.
  func renditions(of file: UploadedFile) async throws -> Renditions {
    defer { count.subtract(1, ordering: .relaxed) }
    guard count.add(1, ordering: .relaxed).newValue <= countMax else { throw Failure.photosBusy }
    return try await Self.threads.runIfActive { [limit] in
      let bytes = try file.bytes()
      guard let type = PictureType(head: bytes.prefix(PictureType.headLength)) else {
        throw Failure.photoTypeUnsupported
      }
      return try bytes.withUnsafeBytes { try Vips.renditions(of: $0, as: type, within: limit) }
    }
  }
}
