import Foundation

#if canImport(Network)
  import Network
#endif

extension LiveWakeups {
  /// When the network has changed, and when the app comes to the foreground. Never where the system does not tell.
  public static let system = LiveWakeups {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let observers: [@Sendable () -> Void] = [
        networkChanges { continuation.yield() }, foreground { continuation.yield() },
      ]
      continuation.onTermination = { _ in for end in observers { end() } }
    }
  }

  /// - Returns: ends it.
  private static func networkChanges(_ tell: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    #if canImport(Network)
      let monitor = NetworkMonitor()
      monitor.start(tell)
      return { monitor.cancel() }
    #else
      return {}
    #endif
  }

  /// - Returns: ends it.
  private static func foreground(_ tell: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    #if canImport(Darwin)
      // By their names, as an extension of an app must not use UIApplication.
      #if os(macOS)
        let name = Notification.Name("NSApplicationDidBecomeActiveNotification")
      #else
        let name = Notification.Name("UIApplicationWillEnterForegroundNotification")
      #endif
      let watching = Task { for await _ in NotificationCenter.default.notifications(named: name) { tell() } }
      return { watching.cancel() }
    #else
      return {}
    #endif
  }
}

#if canImport(Network)
  /// `@unchecked Sendable`: `isStarted` is only used under the lock, and the monitor may be cancelled from any thread.
  private final class NetworkMonitor: @unchecked Sendable {
    private let monitor = NWPathMonitor()
    private let lock = NSLock()
    private var isStarted = false

    func start(_ tell: @escaping @Sendable () -> Void) {
      monitor.pathUpdateHandler = { [weak self] path in
        // The first call says how the network is now.
        if self?.isFirstCall() == false, path.status == .satisfied { tell() }
      }
      monitor.start(queue: DispatchQueue(label: "KithClient.network"))
    }

    func cancel() { monitor.cancel() }

    private func isFirstCall() -> Bool {
      lock.withLock {
        defer { isStarted = true }
        return !isStarted
      }
    }
  }
#endif
