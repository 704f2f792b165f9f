import Traces
import Wire

/// What is told of one exchange to a collector: that it was answered, and what the service was asked. A class, so that
/// an exchange that is not traced carries no more than a nil.
final class ExchangeSpans {
  let server: ActiveSpan
  private var client: (span: ActiveSpan, url: UpstreamURL)?
  /// What the service said, once it has.
  var answered: Int?

  init(_ server: ActiveSpan) { self.server = server }

  /// - Returns: the header line by which the service continues the trace.
  func forwarded(to url: UpstreamURL) -> [UInt8] {
    let span = server.asking()
    client = (span, url)
    return Array("\(Header.traceparent): \(span.context.traceparent)\r\n".utf8)
  }

  /// - Parameter isCutOff: the client's connection ended before the exchange did.
  func end(_ exchange: Exchange, isCutOff: Bool) {
    let method = exchange.method.rawValue
    if let client, let route = exchange.route {
      let question = Asked(
        method, route.path, of: route.service.rawValue, host: client.url.host, port: client.url.port)
      client.span.asked(question, outcome(answered, isCutOff), resends: exchange.isRepeated ? 1 : 0)
    }
    server.answered(method, route: exchange.route?.path, outcome(exchange.status, isCutOff))
  }

  private func outcome(_ status: Int?, _ isCutOff: Bool) -> Outcome {
    guard let status else { return .unanswered(isCutOff ? "client_gone" : "no_answer") }
    return isCutOff ? .cutOff(status) : .answered(status)
  }
}
