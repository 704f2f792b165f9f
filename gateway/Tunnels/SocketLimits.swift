import Synchronization
import Web
import Wire

/// Counts open WebSockets and limits them, in total and for each address.
final class SocketLimits: Sendable {
  /// Which limit a WebSocket would exceed.
  enum Excess: String, Sendable, CaseIterable {
    case total
    case address

    var failure: Failure {
      switch self {
      case .total: .tooManySockets
      case .address: .tooManySocketsFromAddress
      }
    }
  }

  private let max: Int
  private let perAddressMax: Int
  private let trustedProxies: TrustedProxies
  private let counts = Mutex<(total: Int, byAddress: [IPAddress: Int])>((0, [:]))

  /// - Throws: ``StartFailure`` for `WEBSOCKETS_MAX` or `WEBSOCKETS_PER_IP_MAX` out of bounds.
  init(_ settings: Settings, trustedProxies: TrustedProxies) throws {
    max = try settings.int("WEBSOCKETS_MAX", default: 16_000, in: 0...1_000_000)
    perAddressMax = try settings.int("WEBSOCKETS_PER_IP_MAX", default: 256, in: 1...1_000_000)
    self.trustedProxies = trustedProxies
  }

  var open: Int { counts.withLock { $0.total } }

  /// Counts a WebSocket, unless it exceeds a limit. Each that is counted needs a ``close(from:)``.
  ///
  /// - Parameter address: that of the client. A trusted proxy that does not name its clients has no limit of its own.
  func open(from address: IPAddress) -> Excess? {
    counts.withLock { counts in
      let fromAddress = counts.byAddress[address.network, default: 0]
      guard fromAddress < perAddressMax || trustedProxies.contains(address) else { return .address }
      guard counts.total < max else { return .total }
      counts.total += 1
      counts.byAddress[address.network] = fromAddress + 1
      return nil
    }
  }

  func close(from address: IPAddress) {
    let address = address.network
    counts.withLock { counts in
      counts.total -= 1
      let left = counts.byAddress[address, default: 1] - 1
      counts.byAddress[address] = left > 0 ? left : nil
    }
  }
}
