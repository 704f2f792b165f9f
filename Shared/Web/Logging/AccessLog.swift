import Logging

/// The access log: one line for each request, when it ends, at `info`.
///
/// The line is the one that ``StandardOutputLogHandler`` makes of ``Entry/metadata``. It is put together without that
/// metadata, since dictionaries, their sorting and dynamic casts take longer than all else that is logged.
package struct AccessLog: Sendable {
  /// A request that has ended.
  package struct Entry: Sendable {
    let method: String
    let route: String
    let status: Int
    let requestID: String
    let traceID: String?
    let microseconds: Int
    let webSocket: WebSocket?

    /// What a WebSocket adds to the line of its request, which is logged at its end.
    package struct WebSocket: Sendable {
      let receivedBytes: Int
      let sentBytes: Int
      let endedBy: String

      package init(receivedBytes: Int, sentBytes: Int, endedBy: String) {
        self.receivedBytes = receivedBytes
        self.sentBytes = sentBytes
        self.endedBy = endedBy
      }
    }

    /// - Parameters:
    ///   - route: the path template; nil when no route matched.
    ///   - traceID: nil when the request is not traced.
    ///   - microseconds: the duration, which is logged in milliseconds.
    package init(
      _ method: String, route: String?, status: Int, requestID: String, traceID: String?, microseconds: Int,
      webSocket: WebSocket? = nil
    ) {
      self.method = method
      self.route = route ?? "-"
      self.status = status
      self.requestID = requestID
      self.traceID = traceID
      self.microseconds = microseconds
      self.webSocket = webSocket
    }
  }

  private let logger: Logger
  /// nil for a logger of another kind, such as that of a test.
  private let standardOutput: StandardOutputLogHandler?
  private let heading: LogLine.Heading
  private let routineHeading: LogLine.Heading

  /// - Parameter logger: has no metadata of its own.
  package init(_ logger: Logger) {
    self.logger = logger
    standardOutput = logger.handler as? StandardOutputLogHandler
    let (label, format) = (standardOutput?.label ?? "", standardOutput?.format ?? .json)
    heading = LogLine.Heading(.info, label, "request", in: format)
    routineHeading = LogLine.Heading(.debug, label, "request", in: format)
  }

  /// Logs a request. When its line is not to be logged, `entry` is not evaluated.
  ///
  /// - Parameter isRoutine: for requests that other programs repeat every second, which are logged at `debug`.
  package func log(isRoutine: Bool, _ entry: @autoclosure () -> Entry) {
    let level = isRoutine ? Logger.Level.debug : .info
    guard let standardOutput else { return logger.log(level: level, "request", metadata: entry().metadata) }
    guard standardOutput.logLevel <= level else { return }
    standardOutput.queue.add(entry().line(isRoutine ? routineHeading : heading))
  }
}

extension AccessLog.Entry {
  var metadata: Logger.Metadata {
    var metadata: Logger.Metadata = [
      "method": "\(method)", "route": "\(route)", "status": .stringConvertible(status), "request_id": "\(requestID)",
      "duration_ms": .stringConvertible(Double(microseconds) / 1000),
    ]
    if let traceID { metadata["trace_id"] = "\(traceID)" }
    if let webSocket {
      metadata["ended_by"] = "\(webSocket.endedBy)"
      metadata["received_bytes"] = .stringConvertible(webSocket.receivedBytes)
      metadata["sent_bytes"] = .stringConvertible(webSocket.sentBytes)
    }
    return metadata
  }

  /// The fields are in the order of their names, as those of ``StandardOutputLogHandler/log(event:)`` are.
  fileprivate func line(_ heading: LogLine.Heading) -> [UInt8] {
    var line = LogLine(heading)
    line.add("duration_ms", thousandths: microseconds)
    if let webSocket { line.add("ended_by", webSocket.endedBy) }
    line.add("method", method)
    if let webSocket { line.add("received_bytes", number: webSocket.receivedBytes) }
    line.add("request_id", requestID)
    line.add("route", route)
    if let webSocket { line.add("sent_bytes", number: webSocket.sentBytes) }
    line.add("status", number: status)
    if let traceID { line.add("trace_id", traceID) }
    return line.end()
  }
}
