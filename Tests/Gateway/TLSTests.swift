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

/// The gateway's own certificate, and services behind TLS.
@Suite struct TLSTests {
  @Test func itSpeaksTLSWithItsOwnCertificateAndNothingOld() async throws {
    try await withTestCertificate { certificate in
      try await withGateway(certificate.settings) { gateway in
        let response = try await certificate.get("/echo?n=1", gateway.port)
        #expect(response.status == 200)
        #expect(response.headers["strict-transport-security"].count == 1)
        // Neither without TLS, nor with a version that RFC 8996 deprecates, nor with another certificate.
        let clear = try await RawConnection(port: gateway.port)
        try await clear.send("GET /echo?n=1 HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(!(try await clear.untilClosed().contains("HTTP/1.1 200")))
        await #expect(throws: (any Error).self) {
          try await certificate.get("/echo?n=1", gateway.port, tlsMax: .tlsv11)
        }
        try await withTestCertificate { other in
          await #expect(throws: (any Error).self) { try await other.get("/echo?n=1", gateway.port) }
        }
      }
    }
  }

  @Test func aLargeAnswerAndARefusedBodyComeThroughWhole() async throws {
    try await withTestCertificate { certificate in
      try await withGateway(certificate.settings) { gateway in
        let download = try await certificate.get("/download?bytes=5000000", gateway.port)
        #expect(download.bytes == 5_000_000 / 65_536 * 65_536)
        let refused = try await certificate.post("/small", gateway.port, bytes: 200_000)
        #expect(refused.status == 413)
        #expect(try await certificate.post("/count", gateway.port, bytes: 2_000_000).status == 200)
      }
    }
  }

  @Test func aWebSocketIsEncryptedToItsEnd() async throws {
    try await withTestCertificate { certificate in
      try await withSocketGateway(certificate.settings) { gateway in
        let hello = SocketHandshake.frame("hello")
        let raw = try await gateway.open(.echo, trusting: certificate.trusted)
        try await raw.send(hello)
        try await eventually("the echo") { try await raw.receivedBytes().count > 0 && raw.tunneled == hello }
        gateway.service.kill()
        _ = try await raw.untilClosed()
        #expect(raw.tunneled == hello + SocketHandshake.restartFrame)
        let closed = try await gateway.open(.bye, trusting: certificate.trusted)
        _ = try await closed.untilClosed()
        #expect(closed.tunneled == [0x88, 0x02, 0x03, 0xE8])
        try await eventually("the count") { gateway.counted == 0 }
      }
    }
  }

  @Test func aRenewedCertificateIsTakenOverOnSIGHUPAndABrokenOneIsNot() async throws {
    try await withTestCertificate { certificate in
      try await withGateway(certificate.settings) { gateway in
        try await withTestCertificate { renewed in
          let before = try await certificate.get("/echo?n=1", gateway.port)
          #expect(before.status == 200)
          try Data("not a certificate".utf8).write(to: certificate.certificateFile)
          kill(getpid(), SIGHUP)
          try await Task.sleep(for: .milliseconds(200))
          #expect(try await certificate.get("/echo?n=1", gateway.port).status == 200)
          for (from, to) in [
            (renewed.certificateFile, certificate.certificateFile), (renewed.keyFile, certificate.keyFile),
          ] {
            try Data(contentsOf: from).write(to: to)
          }
          kill(getpid(), SIGHUP)
          try await eventually("the new certificate") {
            // `try?`: until then the certificate is another one.
            (try? await renewed.get("/echo?n=1", gateway.port))?.status == 200
          }
        }
      }
    }
  }

  @Test func servicesBehindTLSAreReachedAndTheirCertificatesChecked() async throws {
    try await withTestCertificate { certificate in
      // A gateway with a certificate serves as the service here.
      try await withGateway(certificate.settings) { inner in
        for (trust, status) in [(NIOSSLTrustRoots.file(certificate.certificateFile.path), 200), (.default, 503)] {
          let serviceAddresses = ServiceAddresses(Settings([:]))
          serviceAddresses.set(.auth, to: inner.stack.auth.base)
          serviceAddresses.set(.credits, to: "https://localhost:\(inner.port)")
          let settings = inner.stack.dependencies(of: "gateway").settings
          let outer = try buildGateway(
            Dependencies(settings, serviceAddresses: serviceAddresses, logger: quiet),
            routes: TestGateway.routes, upstreamTrust: trust)
          try await running([outer]) {
            let browser = Browser("http://127.0.0.1:\(try await outer.port.number)")
            let response = try await browser.get("/echo?n=1")
            #expect(response.status == status)
          }
        }
      }
    }
  }

  /// With TLS a close takes until the peer agrees, which this one never does; what it sends meanwhile is ignored.
  @Test func anAnswerThatBrokeIsNotMended() async throws {
    try await withTestCertificate { certificate in
      try await withServiceIgnoringTLSClose(certificate) { port in
        try await withGateway { gateway in
          let serviceAddresses = ServiceAddresses(Settings([:]))
          serviceAddresses.set(.auth, to: gateway.stack.auth.base)
          serviceAddresses.set(.credits, to: "https://localhost:\(port)")
          let outer = try buildGateway(
            Dependencies(
              gateway.stack.dependencies(of: "gateway").settings, serviceAddresses: serviceAddresses, logger: quiet),
            routes: TestGateway.routes, upstreamTrust: .file(certificate.certificateFile.path))
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

  /// A POST is sent only once, so it must not be sent on a connection that is closing.
  @Test func aConnectionThatIsClosingIsGivenToNobody() async throws {
    try await withTestCertificate { certificate in
      try await withGateway(certificate.settings) { gateway in
        let tls = UpstreamTLS(trustRoots: .file(certificate.certificateFile.path))
        let url = try #require(UpstreamURL("https://localhost:\(gateway.port)"))
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: [Bool].self)
        loop.execute {
          let pool = EndpointPool(Endpoint(.credits, url, nil), key: "k", tls: tls, on: loop)
          pool.connect { upstream in
            guard let upstream else { return promise.succeed([]) }
            upstream.release()
            let isKept = pool.takeIdle() === upstream
            upstream.release()
            pool.sweep(at: .now() + .hours(1))
            promise.succeed([isKept, upstream.isOpen, pool.takeIdle() == nil])
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
    _ = try buildGateway(Dependencies(Settings(secrets.merging(values) { $1 }), logger: quiet))
  }
}

/// A test certificate for localhost, and a client that trusts only this one.
private struct TestCertificate {
  let certificateFile: URL
  let keyFile: URL
  /// The certificate as it was created; the file may have been replaced.
  let trusted: NIOSSLTrustRoots

  init(in folder: URL) throws {
    certificateFile = folder.appending(path: "certificate.pem")
    keyFile = folder.appending(path: "key.pem")
    trusted = .certificates(try NIOSSLCertificate.fromPEMFile(certificateFile.path))
  }

  var settings: [String: String] { ["TLS_CERTIFICATE": certificateFile.path, "TLS_KEY": keyFile.path] }

  struct Response {
    let status: Int
    let headers: HTTPHeaders
    let bytes: Int
  }

  func get(_ path: String, _ port: Int, tlsMax: TLSVersion? = nil) async throws -> Response {
    try await send(HTTPClientRequest(url: "https://localhost:\(port)\(path)"), tlsMax)
  }

  func post(_ path: String, _ port: Int, bytes: Int) async throws -> Response {
    var request = HTTPClientRequest(url: "https://localhost:\(port)\(path)")
    request.method = .POST
    request.body = .bytes(ByteBuffer(repeating: 0x61, count: bytes))
    return try await send(request, nil)
  }

  private func send(_ request: HTTPClientRequest, _ tlsMax: TLSVersion?) async throws -> Response {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = trusted
    if let tlsMax {
      tls.minimumTLSVersion = .tlsv1
      tls.maximumTLSVersion = tlsMax
    }
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    // Otherwise the client would retry until its timeout, whatever is wrong with the certificate.
    configuration.connectionPool.retryConnectionEstablishment = false
    let client = HTTPClient(
      eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    do {
      let response = try await client.execute(request, timeout: .seconds(30))
      let body = try await response.body.collect(upTo: 64 * 1024 * 1024)
      try await client.shutdown()
      return Response(status: Int(response.status.code), headers: response.headers, bytes: body.readableBytes)
    } catch {
      try await client.shutdown()
      throw error
    }
  }
}

private func withTestCertificate(_ body: (TestCertificate) async throws -> Void) async throws {
  try await withCertificate { folder in try await body(try TestCertificate(in: URL(fileURLWithPath: folder))) }
}

/// Runs a service that sends an invalid chunk in the middle of its response, sends the last chunk a little later, and
/// reads nothing after the request, so that it never agrees to a TLS close.
private func withServiceIgnoringTLSClose(
  _ certificate: TestCertificate, _ body: (Int) async throws -> Void
) async throws {
  let tls = try NIOSSLContext(
    configuration: .makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMFile(certificate.certificateFile.path).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(file: certificate.keyFile.path, format: .pem))))
  let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    .childChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([NIOSSLServerHandler(context: tls), TLSCloseIgnoringHandler()])
      }
    }
    .bind(host: "127.0.0.1", port: 0).get()
  do { try await body(server.localAddress?.port ?? 0) } catch {
    try await server.close()
    throw error
  }
  try await server.close()
}

private final class TLSCloseIgnoringHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let text = String(buffer: unwrapInboundIn(data))
    guard text.contains("GET /echo") else { return context.close(promise: nil) }
    send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n", context)
    let channel = context.channel
    channel.setOption(.autoRead, value: false).assumeIsolated().whenSuccess {
      channel.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(100)) { self.send("0\r\n\r\n", context) }
    }
  }

  private func send(_ text: String, _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
  }
}
