import Synchronization
import Web
import Wire

/// Counts open connections and limits them, in total and for each address.
final class ConnectionLimits: Sendable {
  private let max: Int
  private let perAddressMax: Int
  private let trustedProxies: TrustedProxies
  private let counts = Mutex<(total: Int, byAddress: [IPAddress: Int])>((0, [:]))

  /// - Throws: ``StartFailure`` for `CONNECTIONS_MAX` or `CONNECTIONS_PER_IP_MAX` out of bounds.
  init(_ settings: Settings, trustedProxies: TrustedProxies) throws {
    max = try settings.int("CONNECTIONS_MAX", default: 20_000, in: 1...1_000_000)
    perAddressMax = try settings.int("CONNECTIONS_PER_IP_MAX", default: 512, in: 1...1_000_000)
    self.trustedProxies = trustedProxies
  }

  var open: Int { counts.withLock { $0.total } }

  /// Counts a connection. One that is refused counts too: each ``opened(from:)`` needs a ``closed(from:)``.
  ///
  /// - Returns: the failure when this connection exceeds a limit. The limit for each address does not apply to trusted
  ///   proxies, because a proxy connects for many clients.
  func opened(from address: IPAddress) -> Failure? {
    counts.withLock { counts in
      counts.total += 1
      let fromAddress = counts.byAddress[address.network, default: 0] + 1
      counts.byAddress[address.network] = fromAddress
      if counts.total > max { return .tooManyConnections }
      return fromAddress > perAddressMax && !trustedProxies.contains(address) ? .tooManyConnectionsFromAddress : nil
    }
  }

  func closed(from address: IPAddress) {
    let address = address.network
    counts.withLock { counts in
      counts.total -= 1
      let left = counts.byAddress[address, default: 1] - 1
      counts.byAddress[address] = left > 0 ? left : nil
    }
  }
}
