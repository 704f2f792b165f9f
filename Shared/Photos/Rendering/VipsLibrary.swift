import Foundation
import Logging
import Synchronization

/// The file of libvips, which the first picture loads: with the libraries that it needs it takes 15 MB of memory, which
/// a process without pictures is spared. Loading that has failed is tried again.
package final class VipsLibrary: Sendable {
  /// The one that the renderers of the process use.
  package static let shared = VipsLibrary(fileName: Vips.fileName)

  private enum State: Sendable {
    case notLoaded
    case loaded
    case failed(UnusableLibrary, at: ContinuousClock.Instant)
  }

  /// Where the loader of a Linux system looks, besides folders that the system names.
  private static let folders: [String] = {
    #if arch(arm64)
      let architecture = "aarch64"
    #else
      let architecture = "x86_64"
    #endif
    return ["/lib/\(architecture)-linux-gnu", "/usr/lib/\(architecture)-linux-gnu", "/usr/lib64", "/usr/local/lib"]
  }()

  /// The functions of the library are found once for the process, whatever its file.
  private static let starting = Mutex(())

  private let fileName: String
  private let retryInterval: Duration
  private let state = Mutex(State.notLoaded)

  /// - Parameters:
  ///   - fileName: a name that the loader looks for, or a path.
  ///   - retryInterval: the time between two attempts to load it.
  init(fileName: String, retryInterval: Duration = .seconds(30)) {
    self.fileName = fileName
    self.retryInterval = retryInterval
  }

  /// Whether pictures can be rendered, as far as is known without loading a library that lies where libraries usually
  /// do: false when there is none, and after an attempt to load it has failed. It is then tried again.
  ///
  /// - Parameter logger: gets the reason of each failed attempt of this function.
  package func isUsable(_ logger: Logger) -> Bool {
    // While another thread loads it, nothing has failed yet.
    state.withLockIfAvailable { state -> Bool in
      if case .notLoaded = state, isInUsualFolder { return true }
      do {
        try load(&state, logger: logger)
        return true
      } catch { return false }
    } ?? true
  }

  /// Loads and starts the library, unless it has been. Blocks.
  ///
  /// - Throws: ``UnusableLibrary``.
  func load() throws { try state.withLock { state in try load(&state, logger: nil) } }

  private func load(_ state: inout State, logger: Logger?) throws {
    switch state {
    case .loaded: return
    case .failed(let failure, let time) where ContinuousClock.now - time < retryInterval: throw failure
    case .notLoaded, .failed: break
    }
    let reason = Self.starting.withLock { _ in Vips.start(fileName) }
    guard let reason else {
      state = .loaded
      return
    }
    let failure = UnusableLibrary(description: reason)
    state = .failed(failure, at: .now)
    logger?.error("pictures cannot be rendered", metadata: ["reason": "\(reason)"])
    throw failure
  }

  /// A file that is elsewhere has to be loaded to be found.
  private var isInUsualFolder: Bool {
    #if os(Linux)
      let paths = fileName.hasPrefix("/") ? [fileName] : Self.folders.map { "\($0)/\(fileName)" }
      return paths.contains { access($0, R_OK) == 0 }
    #else
      // The program is linked with it.
      return true
    #endif
  }
}

/// The library is not there, or not of the version that the program was built with.
struct UnusableLibrary: Error, CustomStringConvertible {
  let description: String
}
