import Synchronization
import Web
import Wire

/// How many connections are open, in all and from each address.
final class Connections: Sendable {
  private let max: Int
  private let perAddressMax: Int
  private let trusted: TrustedProxies
  private let counts = Mutex<(all: Int, byAddress: [IPAddress: Int])>((0, [:]))

  /// - Throws: ``StartFailure`` for `CONNECTIONS_MAX` or `CONNECTIONS_PER_IP_MAX` out of bounds.
  init(_ settings: Settings, trusted: TrustedProxies) throws {
    max = try settings.int("CONNECTIONS_MAX", default: 20_000, in: 1...1_000_000)
    perAddressMax = try settings.int("CONNECTIONS_PER_IP_MAX", default: 512, in: 1...1_000_000)
    self.trusted = trusted
  }

  var open: Int { counts.withLock { $0.all } }

  /// Counts a connection, also one that is refused: every ``opened(from:)`` has its ``closed(from:)``.
  ///
  /// - Returns: why this one is too many, if it is. A trusted proxy brings many people, so it has no limit of its own.
  func opened(from address: IPAddress) -> Failure? {
    counts.withLock { counts in
      counts.all += 1
      let fromHere = counts.byAddress[address.network, default: 0] + 1
      counts.byAddress[address.network] = fromHere
      if counts.all > max { return .tooManyConnections }
      return fromHere > perAddressMax && !trusted.contains(address) ? .tooManyConnectionsFromAddress : nil
    }
  }

  func closed(from address: IPAddress) {
    let address = address.network
    counts.withLock { counts in
      counts.all -= 1
      let left = counts.byAddress[address, default: 1] - 1
      counts.byAddress[address] = left > 0 ? left : nil
    }
  }
}
