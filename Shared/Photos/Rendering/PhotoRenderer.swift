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

  /// The formats that are accepted.
  package let formats: Set<ImageFormat>
  private let countMax: Int
  private let timeout: Duration
  private let library: VipsLibrary
  private let count = Atomic(0)

  /// - Parameters:
  ///   - formats: the formats that are accepted; unless others are named, those that phones make.
  ///   - countMax: how many photos may wait or be rendered at once; nil for sixteen times the threads.
  ///   - timeout: how long the rendering of one may take.
  ///   - library: what renders them.
  package init(
    formats: Set<ImageFormat> = [.jpeg, .png, .heic], countMax: Int? = nil, timeout: Duration = .seconds(10),
    library: VipsLibrary = .shared
  ) {
    self.formats = formats
    self.countMax = countMax ?? 16 * Self.threadCount
    self.timeout = timeout
    self.library = library
  }

  /// - Throws: 415 for a file that is not a photo, 422 for one that cannot be rendered, 503 when too many wait.
  package func renditions(of file: UploadedFile) async throws -> Renditions {
    try await rendered { try self.renditions(decoding: file.bytes()) }
  }

  /// The same for a file in memory, of any length.
  package func renditions(of bytes: [UInt8]) async throws -> Renditions {
    try await rendered { try self.renditions(decoding: bytes) }
  }

  /// The renditions of a drawing.
  ///
  /// - Throws: 503 when too many wait.
  package func renditions(of landscape: Landscape) async throws -> Renditions {
    try await rendered { [library] in
      try library.load()
      return try Vips.renditions(of: landscape.drawn())
    }
  }

  private func renditions(decoding bytes: [UInt8]) throws -> Renditions {
    guard let format = ImageFormat(head: bytes.prefix(ImageFormat.headLength)), formats.contains(format) else {
      throw Failure.photoTypeUnsupported
    }
    try library.load()
    return try bytes.withUnsafeBytes { try Vips.renditions(of: $0, as: format, within: timeout) }
  }

  private func rendered(_ render: @escaping @Sendable () throws -> Renditions) async throws -> Renditions {
    defer { count.subtract(1, ordering: .relaxed) }
    guard count.add(1, ordering: .relaxed).newValue <= countMax else { throw Failure.photosBusy }
    return try await Self.threads.runIfActive(render)
  }
}
