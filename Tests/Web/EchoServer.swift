import HTTPTypes
import Hummingbird
import NIOCore
import Support
import Synchronization
import Wire

@testable import Web

/// How a client reaches a server.
enum Transport: CaseIterable {
  /// Over TCP.
  case port
  /// Within the process.
  case local
}

/// A server whose responses say what it was asked.
final class EchoServer: Sendable {
  let port = ListeningPort()
  private let listener = Mutex<LocalListener?>(nil)
  let largeBytes = 6_000_000
  static let bigBytes = 4_000_000
  /// Lets the late stream and the held response go on.
  let goOn = ChangeSignal()
  private let counts = Mutex((all: 0, cut: 0))
  private let deadlines = RequestDeadlines(limit: .milliseconds(50), interval: .milliseconds(10))

  /// nil where it is reached over TCP.
  var local: LocalListener? {
    get { listener.withLock { $0 } }
    set { listener.withLock { $0 = newValue } }
  }
  /// How many requests have begun.
  var count: Int { counts.withLock { $0.all } }
  /// How many streams were cut off by their reader.
  var cutCount: Int { counts.withLock { $0.cut } }

  /// - Parameter receiveBytes: the size of the kernel's receive buffer, where there is one.
  func connect(receiveBytes: Int? = nil) async throws -> RawConnection {
    if let local { return try await RawConnection(within: local.connect) }
    return try await RawConnection(port: try await port.number, receiveBytes: receiveBytes)
  }

  func respond(to request: Request) async -> Response {
    counts.withLock { $0.all += 1 }
    do { return try await response(to: request) } catch {
      return Failure(describing: error, logger: quiet).response(to: request, requestID: "1")
    }
  }

  private func response(to request: Request) async throws -> Response {
    switch request.uri.path {
    case "/slow": try await Task.sleep(for: .milliseconds(200))
    case "/held": await goOn.wait(after: 0)
    // Its body is made while it is written, after the deadline.
    case "/late-body":
      try? await deadlines.withDeadline { try await Task.sleep(for: .seconds(300)) }
      return stream { _ in try Task.checkCancellation() }
    case "/endless": try await deadlines.withDeadline { try await Task.sleep(for: .seconds(300)) }
    // Does not end for its cancellation, and succeeds after its deadline.
    case "/late":
      return await
        (try? deadlines.withDeadline {
          try? await Task.sleep(for: .seconds(300))
          return text(String(repeating: "x", count: Self.bigBytes))
        }) ?? text("refused")
    case "/early": return text("early")
    case "/204": return Response(status: .noContent, body: .init(byteBuffer: ByteBuffer(string: "x")))
    case "/304": return Response(status: .notModified)
    case "/stream": return stream { _ in }
    case "/broken-stream": return stream { _ in throw CancellationError() }
    case "/broken-length": return stream(length: 7) { _ in throw CancellationError() }
    case "/large": return large
    case "/big": return text(String(repeating: "x", count: Self.bigBytes))
    case "/late-stream": return lateStream
    case "/until-client-end": return untilClientEnd
    case "/parts": return parts
    default: break
    }
    var length = 0
    for try await bytes in request.body { length += bytes.readableBytes }
    return text("\(request.method) \(request.uri.path) \(length)")
  }

  private func text(_ text: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: "text/plain"], body: .init(byteBuffer: ByteBuffer(string: text)))
  }

  private func stream(length: Int? = nil, _ inBetween: @escaping @Sendable (Int) throws -> Void) -> Response {
    Response(
      status: .ok,
      body: .init(contentLength: length) { writer in
        try await writer.write(ByteBuffer(string: "one"))
        try inBetween(1)
        try await writer.write(ByteBuffer(string: "two"))
        try await writer.finish(nil)
      })
  }

  private var lateStream: Response {
    Response(
      status: .ok,
      body: .init { [goOn] writer in
        await goOn.wait(after: 0)
        try await writer.write(ByteBuffer(string: "late"))
        try await writer.finish(nil)
      })
  }

  /// Writes when its client has ended its side, and again when it has gone after that, or a moment later.
  private var untilClientEnd: Response {
    Response(
      status: .ok,
      body: .init { [self] writer in
        let ended = ChangeSignal()
        try await writer.onClientEnd { ended.send() }
        await ended.wait(after: 0)
        let version = ended.version
        do {
          try await writer.write(ByteBuffer(string: "ended"))
          await ended.wait(after: version, atMost: .seconds(1))
          try await writer.write(ByteBuffer(string: "stay"))
        } catch {
          counts.withLock { $0.cut += 1 }
          throw error
        }
        try await writer.finish(nil)
      })
  }

  private var parts: Response {
    Response(
      status: .ok,
      body: .init(contentLength: 1_000_000) { writer in
        for _ in 0..<4 { try await writer.write(ByteBuffer(repeating: UInt8(ascii: "x"), count: 250_000)) }
        try await writer.finish(nil)
      })
  }

  private var large: Response {
    Response(
      status: .ok,
      body: .init { [self] writer in
        let part = ByteBuffer(repeating: UInt8(ascii: "x"), count: 100_000)
        do {
          for _ in 0..<largeBytes / 100_000 { try await writer.write(part) }
        } catch {
          counts.withLock { $0.cut += 1 }
          throw error
        }
        try await writer.finish(nil)
      })
  }
}

/// Runs it, on a free port or within the process.
func withEchoServer<T>(
  _ timeouts: ConnectionTimeouts = ConnectionTimeouts(), over transport: Transport = .port,
  _ body: (EchoServer) async throws -> T
) async throws -> T {
  let server = EchoServer()
  let service = HTTPService(
    respond: { request, _ in await server.respond(to: request) },
    refuse: {
      $0.response(
        to: Request(head: .init(method: .get, scheme: nil, authority: nil, path: "/"), body: .init(buffer: .init())),
        requestID: "1")
    }, logger: quiet, timeouts: timeouts)
  if transport == .local {
    let local = LocalListener(EventLoopServer(service), logger: quiet)
    server.local = local
    return try await running([local]) { try await body(server) }
  }
  let http = EventLoopServer(service).service(.hostname("127.0.0.1", port: 0)) { channel in
    server.port.opened(on: channel.localAddress?.port ?? 0, channel)
  }
  return try await running([http]) {
    _ = try await server.port.number
    return try await body(server)
  }
}
