import NIOCore
import Prometheus

/// The WebSockets of one event loop, and those that were refused.
struct TunnelMetrics: Sendable {
  private(set) var open = 0
  private var refused: [SocketLimits.Excess: Int] = [:]
  private var ended: [Tunnel.End: Int] = [:]
  private var seconds = 0.0
  private var bytesFromClients = 0
  private var bytesFromServices = 0

  mutating func refused(_ excess: SocketLimits.Excess) { refused[excess, default: 0] += 1 }

  mutating func opened() { open += 1 }

  mutating func ended(_ tunnel: Tunnel, _ end: Tunnel.End, duration: TimeAmount) {
    open -= 1
    ended[end, default: 0] += 1
    seconds += Double(duration.nanoseconds) / 1e9
    bytesFromClients += tunnel.bytesFromClient
    bytesFromServices += tunnel.bytesFromService
  }

  static func + (one: TunnelMetrics, other: TunnelMetrics) -> TunnelMetrics {
    var sum = one
    sum.open += other.open
    sum.refused.merge(other.refused, uniquingKeysWith: +)
    sum.ended.merge(other.ended, uniquingKeysWith: +)
    sum.seconds += other.seconds
    sum.bytesFromClients += other.bytesFromClients
    sum.bytesFromServices += other.bytesFromServices
    return sum
  }

  func write(to text: inout PrometheusText) {
    text.head("kith_gateway_websockets", .gauge, "Open WebSockets.")
    text.line("kith_gateway_websockets", [], [], Double(open))
    text.head("kith_gateway_websockets_ended_total", .counter, "WebSockets that have ended, by who ended them.")
    for end in Tunnel.End.allCases {
      text.line("kith_gateway_websockets_ended_total", ["by"], [end.rawValue], Double(ended[end] ?? 0))
    }
    text.head("kith_gateway_websockets_refused_total", .counter, "WebSockets that were refused, by the limit.")
    for excess in SocketLimits.Excess.allCases {
      text.line("kith_gateway_websockets_refused_total", ["limit"], [excess.rawValue], Double(refused[excess] ?? 0))
    }
    text.head("kith_gateway_websocket_seconds_total", .counter, "Durations of the WebSockets that have ended.")
    text.line("kith_gateway_websocket_seconds_total", [], [], seconds)
    text.head("kith_gateway_websocket_bytes_total", .counter, "Bytes of the WebSockets that have ended, by sender.")
    text.line("kith_gateway_websocket_bytes_total", ["from"], ["client"], Double(bytesFromClients))
    text.line("kith_gateway_websocket_bytes_total", ["from"], ["service"], Double(bytesFromServices))
  }
}
