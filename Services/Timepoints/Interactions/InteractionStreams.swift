import Foundation
import Hummingbird
import Logging
import NIOCore
import Web
import Wire

/// Answers in pieces, as server-sent events.
///
/// The work goes on when the client goes away: what it has read it has, so it is charged.
struct InteractionStreams: Sendable {
  let work: ChargedWork
  let logger: Logger

  private enum Part: Sendable {
    case begun
    case piece(InteractionPiece)
    case ended(Result<Reply, any Error>)
  }

  /// A stream that ends with the whole answer, or with an error. A repeated request gets the end alone.
  ///
  /// - Throws: what fails before the work begins.
  func response(to interaction: PreparedInteraction) async throws -> Response {
    // Unbounded, but an answer is not.
    let (parts, continuation) = AsyncStream.makeStream(of: Part.self)
    // A task of its own, which does not end with the connection.
    Task { [work] in
      let result: Result<Reply, any Error>
      do {
        result = .success(
          try await work.reply(to: interaction) {
            continuation.yield(.piece($0))
          } onBegin: {
            continuation.yield(.begun)
          })
      } catch { result = .failure(error) }
      continuation.yield(.ended(result))
      continuation.finish()
    }
    switch await parts.first(where: { _ in true }) {
    case .ended(.failure(let error)): throw error
    case .ended(.success(let reply)) where reply.status != 200: return reply.response
    case .ended(let result): return response { try await $0.write(EventStreamText.event(last(result))) }
    case .begun, .piece: return response { try await write(parts, to: &$0) }
    // The request was cancelled. The stream would end there and then, empty.
    case nil: throw CancellationError()
    }
  }

  private func response(
    _ write: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
  ) -> Response {
    Response(
      status: .ok, headers: EventStreamText.headers,
      body: .init { writer in
        try await write(&writer)
        try await writer.finish(nil)
      })
  }

  /// With a comment every 15 seconds, which keeps the connection while a provider thinks.
  private func write(_ parts: AsyncStream<Part>, to writer: inout any ResponseBodyWriter) async throws {
    let (buffers, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
    let source = Task {
      for await part in parts {
        switch part {
        case .begun: break
        case .piece(let piece): continuation.yield(try EventStreamText.event(piece))
        case .ended(let result): continuation.yield(try EventStreamText.event(last(result)))
        }
      }
      continuation.finish()
    }
    let pulse = Task {
      while !Task.isCancelled {
        try await Task.sleep(for: .seconds(15))
        continuation.yield(EventStreamText.comment)
      }
    }
    defer {
      source.cancel()
      pulse.cancel()
    }
    for await buffer in buffers { try await writer.write(buffer) }
  }

  private func last(_ result: Result<Reply, any Error>) -> InteractionPiece {
    do {
      let reply = try result.get()
      let body = try JSON.decode(JSONValue.self, from: reply.body)
      guard reply.status == 200 else { return .error(body["detail"] ?? body, code: body["code"]?.string) }
      return .done(body)
    } catch {
      let failure = Failure(describing: error, logger: logger)
      return .error(.string(failure.message), code: failure.code)
    }
  }
}

extension EventStreamText {
  /// - Throws: `EncodingError`.
  static func event(_ body: InteractionPiece) throws -> ByteBuffer {
    message(String(decoding: try JSON.encode(body), as: UTF8.self))
  }
}
