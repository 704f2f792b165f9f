import HTTPTypes
import Hummingbird
import NIOCore
import Web

/// Answers requests for a WebSocket that are not the first of their connection, which ``SocketUpgrade`` does not see.
struct SocketRoute: Sendable {
  let metrics: EventMetrics

  func add(to routes: HTTPRoutes) {
    routes.get(RouterPath(SocketUpgrade.path)) { [metrics] _, _ in
      let refusal = HandshakeRefusal.noUpgrade
      metrics.refused(refusal.metric)
      return Response(
        status: .init(code: Int(refusal.status.code)),
        headers: [.contentType: "application/json", .upgrade: "websocket", .connection: "close"],
        body: .init(byteBuffer: ByteBuffer(string: refusal.body)))
    }
  }
}
