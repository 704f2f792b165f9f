import Synchronization
import Web
import Wire

/// Bounds how many sockets and event streams are open: of one address in this process, of one user in all processes
/// that share a database.
final class ConnectionLimits: Sendable {
  private struct State {
    var users: [UserID: Int] = [:]
    var addresses: [String: Int] = [:]
    var lastNumber = 0
  }

  private let state = Mutex(State())
  private let perUser: Int
  private let perAddress: Int
  private let replicated: OpenConnections?

  /// - Parameter replicated: nil where there is one process.
  init(_ settings: Settings, replicated: OpenConnections?) throws {
    perUser = try settings.int("EVENTS_SOCKETS_PER_USER", default: 10, in: 1...10_000)
    perAddress = try settings.int("EVENTS_SOCKETS_PER_ADDRESS", default: 200, in: 1...1_000_000)
    self.replicated = replicated
  }

  /// - Returns: nil when the user has as many already.
  func open(by user: UserID) async -> OpenConnection? {
    let number = state.withLock { state -> Int? in
      guard Self.add(user, to: &state.users, max: perUser) else { return nil }
      state.lastNumber += 1
      return state.lastNumber
    }
    guard let number else { return nil }
    let connection = OpenConnection(number: number, user: user)
    guard let replicated, await !replicated.add(connection, max: perUser) else { return connection }
    state.withLock { Self.remove(user, from: &$0.users) }
    return nil
  }

  func close(_ connection: OpenConnection) {
    state.withLock { Self.remove(connection.user, from: &$0.users) }
    replicated?.remove(connection)
  }

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
