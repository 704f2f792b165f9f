import Synchronization
import Web
import Wire

/// Bounds how many sockets and event streams of one user, and of one address, are open in this process.
final class ConnectionLimits: Sendable {
  private struct State {
    var users: [UserID: Int] = [:]
    var addresses: [String: Int] = [:]
  }

  private let state = Mutex(State())
  private let perUser: Int
  private let perAddress: Int

  init(_ settings: Settings) throws {
    perUser = try settings.int("EVENTS_SOCKETS_PER_USER", default: 10, in: 1...10_000)
    perAddress = try settings.int("EVENTS_SOCKETS_PER_ADDRESS", default: 200, in: 1...1_000_000)
  }

  /// - Returns: false when the user has as many already.
  func open(by user: UserID) -> Bool {
    state.withLock { Self.add(user, to: &$0.users, max: perUser) }
  }

  func close(by user: UserID) { state.withLock { Self.remove(user, from: &$0.users) } }

  /// - Returns: false when the address has as many already.
  func open(from address: String) -> Bool {
    state.withLock { Self.add(address, to: &$0.addresses, max: perAddress) }
  }

  func close(from address: String) { state.withLock { Self.remove(address, from: &$0.addresses) } }

  private static func add<Key>(_ key: Key, to counts: inout [Key: Int], max: Int) -> Bool {
    let count = counts[key] ?? 0
    guard count < max else { return false }
    counts[key] = count + 1
    return true
  }

  private static func remove<Key>(_ key: Key, from counts: inout [Key: Int]) {
    guard let count = counts[key] else { return }
    counts[key] = count > 1 ? count - 1 : nil
  }
}
