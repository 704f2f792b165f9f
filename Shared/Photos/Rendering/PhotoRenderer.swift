import Foundation
import NIOPosix
import Synchronization
import Web
import Wire

/// Renders photos on threads of its own, as many at once as there are cores, up to eight. Rejects photos while too many
/// wait, to bound memory and waiting time.
package final class PhotoRenderer: Sendable {
  private static let threadCount = min(AvailableCores.count, 8)
  /// Shared by all renderers of the process; never stopped.
  private static let threads: NIOThreadPool = {
    let threads = NIOThreadPool(numberOfThreads: threadCount)
    threads.start()
    return threads
  }()

  private let countMax: Int
  private let timeout: Duration
  private let count = Atomic(0)

  /// - Parameters:
  ///   - countMax: how many photos may wait or be rendered at once; nil for sixteen times the threads.
  ///   - timeout: how long the rendering of one may take.
  package init(countMax: Int? = nil, timeout: Duration = .seconds(10)) {
    self.countMax = countMax ?? 16 * Self.threadCount
    self.timeout = timeout
  }

  /// - Throws: 415 for a file that is not a photo, 422 for one that cannot be rendered, 503 when too many wait.
  package func renditions(of file: UploadedFile) async throws -> Renditions {
    defer { count.subtract(1, ordering: .relaxed) }
    guard count.add(1, ordering: .relaxed).newValue <= countMax else { throw Failure.photosBusy }
    return try await Self.threads.runIfActive { [timeout] in
      let bytes = try file.bytes()
      guard let format = ImageFormat(head: bytes.prefix(ImageFormat.headLength)) else {
        throw Failure.photoTypeUnsupported
      }
      return try bytes.withUnsafeBytes { try Vips.renditions(of: $0, as: format, within: timeout) }
    }
  }
}
