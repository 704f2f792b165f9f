import Database
import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle
import Web

/// Writes the events of a generation as server-sent events: those that are stored, and then each as it is stored. The
/// stream ends with the generation, which does not end with the stream.
struct GenerationStreams: Sendable {
  let database: any Database
  let signals: GenerationSignals
  /// Between two comments while nothing happens.
  var commentInterval = Duration.seconds(15)

  func response(_ timepoint: TimepointID, after number: Int) -> Response {
    Response(
      status: .ok, headers: EventStreamText.headers,
      body: .init { writer in
        try await signals.watching(.events, of: timepoint) { signal in
          // A stream of a generation that waits for others would hold up the end of the process.
          try await withGracefulShutdownHandler {
            try await write(timepoint, after: number, signal, to: &writer)
          } onGracefulShutdown: {
            signal.send()
          }
        }
        try await writer.finish(nil)
      })
  }

  private func write(
    _ timepoint: TimepointID, after number: Int, _ signal: ChangeSignal, to writer: inout any ResponseBodyWriter
  ) async throws {
    var (number, writtenAt) = (number, ContinuousClock.now)
    while !Task.isCancelled, !Task.isShuttingDownGracefully {
      let version = signal.version
      let last = number
      let (events, isEnded) = try await database.read { db in
        // Before the events, so that an end without its event cannot be seen.
        let isEnded = try TimepointStore.isEnded(timepoint, on: db)
        return (try GenerationEventStore.events(of: timepoint, after: last, on: db), isEnded)
      }
      for event in events {
        try await writer.write(EventStreamText.message(event.json, id: event.number))
        (number, writtenAt) = (event.number, .now)
        if event.isLast { return }
      }
      if isEnded, events.isEmpty { return }
      guard events.isEmpty else { continue }
      if ContinuousClock.now - writtenAt >= commentInterval {
        try await writer.write(EventStreamText.comment)
        writtenAt = .now
      }
      await signal.wait(after: version, atMost: min(commentInterval, signals.lookInterval))
    }
  }
}

/// The form of server-sent events.
enum EventStreamText {
  static let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
  /// Keeps the connection.
  static let comment = ByteBuffer(string: ":\n\n")

  /// - Parameter json: on one line.
  static func message(_ json: String, id: Int? = nil) -> ByteBuffer {
    ByteBuffer(string: (id.map { "id: \($0)\n" } ?? "") + "data: \(json)\n\n")
  }
}
