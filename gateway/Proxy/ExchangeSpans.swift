import Traces
import Wire

/// The spans of one traced exchange: the server span, and the client span of the request to the service. A class, so
/// that an exchange that is not traced holds only a nil.
final class ExchangeSpans {
  let server: ActiveSpan
  private var client: (span: ActiveSpan, url: UpstreamURL)?
  /// The status of the service's response, once it has begun.
  var upstreamStatus: Int?

  init(_ server: ActiveSpan) { self.server = server }

  /// - Returns: the `traceparent` header line for the service.
  func beginClientSpan(to url: UpstreamURL) -> [UInt8] {
    let span = server.beginClientSpan()
    client = (span, url)
    return Array("\(Header.traceparent): \(span.context.traceparent)\r\n".utf8)
  }

  /// - Parameter isCutOff: the client's connection ended before the exchange did.
  func end(_ exchange: Exchange, isCutOff: Bool) {
    let method = exchange.method.rawValue
    if let client, let route = exchange.route {
      let (url, path) = (client.url, client.url.socketPath)
      let request = OutgoingRequest(
        method, route.path, of: route.service.rawValue, host: path ?? url.host, port: path == nil ? url.port : nil)
      client.span.endClientSpan(request, outcome(upstreamStatus, isCutOff), resends: exchange.isRetried ? 1 : 0)
    }
    server.endServerSpan(method, route: exchange.route?.path, outcome(exchange.status, isCutOff))
  }

  private func outcome(_ status: Int?, _ isCutOff: Bool) -> RequestOutcome {
    guard let status else { return .noResponse(isCutOff ? "client_gone" : "no_answer") }
    return isCutOff ? .incompleteResponse(status) : .response(status)
  }
}
