import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Support
import Testing
import Web

@testable import Gateway

/// The gateway's own certificate, and services that have one.
@Suite struct TLSTests {
  @Test func itSpeaksTLSWithItsOwnCertificateAndNothingOld() async throws {
    try await withTestCertificate { certificate in
      try await withPipe(certificate.settings) { pipe in
        let answer = try await certificate.get("/echo?n=1", pipe.port)
        #expect(answer.status == 200)
        #expect(answer.headers["strict-transport-security"].count == 1)
        // Neither in the clear, nor with what RFC 8996 has buried, nor with a stranger's certificate.
        let clear = try await RawConnection(port: pipe.port)
        try await clear.send("GET /echo?n=1 HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(!(try await clear.untilClosed().contains("HTTP/1.1 200")))
        await #expect(throws: (any Error).self) { try await certificate.get("/echo?n=1", pipe.port, tlsMax: .tlsv11) }
        try await withTestCertificate { other in
          await #expect(throws: (any Error).self) { try await other.get("/echo?n=1", pipe.port) }
        }
      }
    }
  }

  @Test func aLargeAnswerAndARefusedBodyComeThroughWhole() async throws {
    try await withTestCertificate { certificate in
      try await withPipe(certificate.settings) { pipe in
        let download = try await certificate.get("/download?bytes=5000000", pipe.port)
        #expect(download.bytes == 5_000_000 / 65_536 * 65_536)
        let refused = try await certificate.post("/small", pipe.port, bytes: 200_000)
        #expect(refused.status == 413)
        #expect(try await certificate.post("/count", pipe.port, bytes: 2_000_000).status == 200)
      }
    }
  }

  @Test func aRenewedCertificateIsTakenOverOnSIGHUPAndABrokenOneIsNot() async throws {
    try await withTestCertificate { certificate in
      try await withPipe(certificate.settings) { pipe in
        try await withTestCertificate { renewed in
          let before = try await certificate.get("/echo?n=1", pipe.port)
          #expect(before.status == 200)
          try Data("not a certificate".utf8).write(to: certificate.certificateFile)
          kill(getpid(), SIGHUP)
          try await Task.sleep(for: .milliseconds(200))
          #expect(try await certificate.get("/echo?n=1", pipe.port).status == 200)
          for (from, to) in [
            (renewed.certificateFile, certificate.certificateFile), (renewed.keyFile, certificate.keyFile),
          ] {
            try Data(contentsOf: from).write(to: to)
          }
          kill(getpid(), SIGHUP)
          try await eventually("the new certificate") {
            // `try?`: until then it is a stranger's.
            (try? await renewed.get("/echo?n=1", pipe.port))?.status == 200
          }
        }
      }
    }
  }

  @Test func servicesBehindTLSAreReachedAndTheirCertificatesChecked() async throws {
    try await withTestCertificate { certificate in
      // A gateway with a certificate is as good a service as any.
      try await withPipe(certificate.settings) { inner in
        for (trust, status) in [(NIOSSLTrustRoots.file(certificate.certificateFile.path), 200), (.default, 503)] {
          let neighbours = Neighbours(Settings([:]))
          neighbours.moved(.auth, to: inner.stack.auth.base)
          neighbours.moved(.credits, to: "https://localhost:\(inner.port)")
          let settings = inner.stack.surroundings(of: "gateway").settings
          let outer = try buildGateway(
            Surroundings(settings, neighbours: neighbours, logger: quiet), routes: Pipe.routes, upstreamTrust: trust)
          try await running([outer]) {
            let browser = Browser("http://127.0.0.1:\(try await outer.port.number)")
            let answer = try await browser.get("/echo?n=1")
            #expect(answer.status == status)
          }
        }
      }
    }
  }

  /// With TLS a close takes until the other side agrees, which this one never does; what it says meanwhile is not heard.
  @Test func anAnswerThatBrokeIsNotMended() async throws {
    try await withTestCertificate { certificate in
      try await withStubbornService(certificate) { port in
        try await withPipe { pipe in
          let neighbours = Neighbours(Settings([:]))
          neighbours.moved(.auth, to: pipe.stack.auth.base)
          neighbours.moved(.credits, to: "https://localhost:\(port)")
          let outer = try buildGateway(
            Surroundings(pipe.stack.surroundings(of: "gateway").settings, neighbours: neighbours, logger: quiet),
            routes: Pipe.routes, upstreamTrust: .file(certificate.certificateFile.path))
          try await running([outer]) {
            let raw = try await RawConnection(port: try await outer.port.number)
            try await raw.send("GET /echo HTTP/1.1\r\nHost: x\r\n\r\n")
            let text = try await raw.untilClosed()
            #expect(text.contains("hello"), "the premise: it had begun")
            #expect(!text.contains("\r\n0\r\n\r\n"), "an end that was never said")
          }
        }
      }
    }
  }

  /// A POST is sent once, so it must not be sent where nobody listens any more.
  @Test func aConnectionThatIsClosingIsGivenToNobody() async throws {
    try await withTestCertificate { certificate in
      try await withPipe(certificate.settings) { pipe in
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(certificate.certificateFile.path)
        let context = try NIOSSLContext(configuration: tls)
        let url = try #require(UpstreamURL("https://localhost:\(pipe.port)"))
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: [Bool].self)
        loop.execute {
          let pool = EndpointPool(Endpoint(.credits, url, nil), key: "k", tls: context, on: loop)
          pool.connect { upstream in
            guard let upstream else { return promise.succeed([]) }
            upstream.release()
            let isKept = pool.kept() === upstream
            upstream.release()
            pool.sweep(at: .now() + .hours(1))
            promise.succeed([isKept, upstream.isOpen, pool.kept() == nil])
          }
        }
        #expect(try await promise.futureResult.get() == [true, true, true])
      }
    }
  }

  @Test func halfACertificateStopsTheStart() throws {
    #expect(throws: StartFailure.self) { try build(["TLS_CERTIFICATE": "/nowhere"]) }
    #expect(throws: StartFailure.self) { try build(["TLS_CERTIFICATE": "/nowhere", "TLS_KEY": "/nowhere"]) }
  }

  private func build(_ values: [String: String]) throws {
    let secrets = ["JWT_SECRET_KEY": "a test secret that is long enough 0123456789", "SERVICE_KEY": "k"]
    _ = try buildGateway(Surroundings(Settings(secrets.merging(values) { $1 }), logger: quiet))
  }
}

/// A certificate for localhost that a test has made, and a client that believes no other.
private struct TestCertificate {
  let certificateFile: URL
  let keyFile: URL
  /// As it was made; the file may be another by now.
  let trusted: NIOSSLTrustRoots

  init(_ certificateFile: URL, _ keyFile: URL) throws {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    trusted = .certificates(try NIOSSLCertificate.fromPEMFile(certificateFile.path))
  }

  var settings: [String: String] { ["TLS_CERTIFICATE": certificateFile.path, "TLS_KEY": keyFile.path] }

  struct Answer {
    let status: Int
    let headers: HTTPHeaders
    let bytes: Int
  }

  func get(_ path: String, _ port: Int, tlsMax: TLSVersion? = nil) async throws -> Answer {
    try await send(HTTPClientRequest(url: "https://localhost:\(port)\(path)"), tlsMax)
  }

  func post(_ path: String, _ port: Int, bytes: Int) async throws -> Answer {
    var request = HTTPClientRequest(url: "https://localhost:\(port)\(path)")
    request.method = .POST
    request.body = .bytes(ByteBuffer(repeating: 0x61, count: bytes))
    return try await send(request, nil)
  }

  private func send(_ request: HTTPClientRequest, _ tlsMax: TLSVersion?) async throws -> Answer {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = trusted
    if let tlsMax {
      tls.minimumTLSVersion = .tlsv1
      tls.maximumTLSVersion = tlsMax
    }
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    // It would try again until the time is up, whatever is wrong with the certificate.
    configuration.connectionPool.retryConnectionEstablishment = false
    let client = HTTPClient(
      eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    do {
      let response = try await client.execute(request, timeout: .seconds(30))
      let body = try await response.body.collect(upTo: 64 * 1024 * 1024)
      try await client.shutdown()
      return Answer(status: Int(response.status.code), headers: response.headers, bytes: body.readableBytes)
    } catch {
      try await client.shutdown()
      throw error
    }
  }
}

private func withTestCertificate(_ body: (TestCertificate) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "kith-tls-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) } }
  let certificate = folder.appending(path: "certificate.pem")
  let key = folder.appending(path: "key.pem")
  try await run([
    "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
    "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key.path, "-out", certificate.path,
  ])
  try await body(try TestCertificate(certificate, key))
}

/// A service that breaks its answer off in the middle of a chunk, ends it all the same a little later, and reads nothing
/// after the request, so that it never agrees to a close.
private func withStubbornService(_ certificate: TestCertificate, _ body: (Int) async throws -> Void) async throws {
  let tls = try NIOSSLContext(
    configuration: .makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMFile(certificate.certificateFile.path).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(file: certificate.keyFile.path, format: .pem))))
  let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    .childChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([NIOSSLServerHandler(context: tls), Stubborn()])
      }
    }
    .bind(host: "127.0.0.1", port: 0).get()
  do { try await body(server.localAddress?.port ?? 0) } catch {
    try await server.close()
    throw error
  }
  try await server.close()
}

private final class Stubborn: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let text = String(buffer: unwrapInboundIn(data))
    guard text.contains("GET /echo") else { return context.close(promise: nil) }
    say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n", context)
    let channel = context.channel
    channel.setOption(.autoRead, value: false).assumeIsolated().whenSuccess {
      channel.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(100)) { self.say("0\r\n\r\n", context) }
    }
  }

  private func say(_ words: String, _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: words)), promise: nil)
  }
}
