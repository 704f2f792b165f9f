import Foundation
import Hummingbird
import NIOCore
import Support
import Synchronization
import Web

@testable import Groups

/// A store on loopback with one bucket, `photos`, that can be made to fail in ways in which a good one does not. What
/// it understands is what ``PhotoBucket`` says; that others understand it too is asked of another store.
final class StoreServer: Sendable {
  private struct State {
    var objects: [String: [UInt8]] = [:]
    var refused: Set<String> = []
    var isEndless = false
    var breaksOff = false
    var listings = 0
  }

  private let state = Mutex(State())
  private let listening = Listening()

  /// Of the photos in it.
  var names: Set<String> { Set(state.withLock { $0.objects.keys.filter { PhotoFileName($0) != nil } }) }

  /// How often it has been asked what it has.
  var listings: Int { state.withLock { $0.listings } }

  /// The objects that it does not delete, as it has no permission.
  var refused: Set<String> {
    get { state.withLock { $0.refused } }
    set { state.withLock { $0.refused = newValue } }
  }

  /// Whether listing goes on for ever.
  var isEndless: Bool {
    get { state.withLock { $0.isEndless } }
    set { state.withLock { $0.isEndless = newValue } }
  }

  /// Whether it closes the connection in the midst of each object.
  var breaksOff: Bool {
    get { state.withLock { $0.breaksOff } }
    set { state.withLock { $0.breaksOff = newValue } }
  }

  var endpoint: String {
    get async throws { "http://127.0.0.1:\(try await listening.number)" }
  }

  func server() -> some ApplicationProtocol {
    let router = Router()
    router.get("/photos") { [self] request, _ -> Response in
      let query = request.uri.queryParameters
      // As from afar.
      try await Task.sleep(for: .milliseconds(20))
      return text(.ok, listing(after: query["start-after"].map(String.init) ?? ""))
    }
    router.put("/photos/{name}") { [self] request, context -> Response in
      let body = try await request.body.collect(upTo: 16 * 1024 * 1024)
      let name = try context.parameters.require("name")
      state.withLock { $0.objects[name] = Array(body.readableBytesView) }
      return Response(status: .ok)
    }
    router.get("/photos/{name}") { [self] request, context -> Response in
      let name = try context.parameters.require("name")
      guard let bytes = state.withLock({ $0.objects[name] }) else { return text(.notFound, "<Code>NoSuchKey</Code>") }
      guard !breaksOff else {
        return Response(
          status: .ok,
          body: .init(contentLength: bytes.count) { writer in
            try await writer.write(ByteBuffer(bytes: bytes.prefix(bytes.count / 2)))
            throw Unexpected(reply: "broken off")
          })
      }
      guard let range = try ByteRange(header: request.headers[.range])?.resolved(in: bytes.count) else {
        return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
      }
      let words = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)"
      return Response(
        status: .partialContent, headers: [.contentRange: words],
        body: .init(byteBuffer: ByteBuffer(bytes: bytes[range])))
    }
    router.delete("/photos/{name}") { [self] _, context -> Response in
      let name = try context.parameters.require("name")
      let isAllowed = state.withLock { state in
        if !state.refused.contains(name) { state.objects[name] = nil }
        return !state.refused.contains(name)
      }
      return isAllowed ? Response(status: .noContent) : text(.forbidden, "<Code>AccessDenied</Code>")
    }
    return Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { [listening] channel in listening.opened(on: channel.localAddress?.port ?? 0) },
      logger: quiet)
  }

  /// Two at a time, so that there is more than one page.
  private func listing(after start: String) -> String {
    let (names, isTruncated): ([String], Bool) = state.withLock { state in
      state.listings += 1
      guard !state.isEndless else { return ([PhotoFileName(.new(at: Date()), .large).text], true) }
      let names = state.objects.keys.filter { $0 > start }.sorted()
      return (Array(names.prefix(2)), names.count > 2)
    }
    let keys = names.map { "<Contents><Key>\($0)</Key></Contents>" }.joined()
    return "<ListBucketResult><IsTruncated>\(isTruncated)</IsTruncated>\(keys)</ListBucketResult>"
  }

  private func text(_ status: HTTPResponse.Status, _ text: String) -> Response {
    Response(status: status, body: .init(byteBuffer: ByteBuffer(string: text)))
  }
}

/// The two places in which photos can be.
enum Storage: CaseIterable {
  case folder, bucket
}

/// The bytes of photos in one of them.
struct Stored: Sendable {
  let files: any PhotoFiles
  let local: PhotoFolder
  /// Where there is a bucket.
  let store: StoreServer?

  var names: Set<String> {
    get throws {
      if let store { return store.names }
      let texts = try FileManager.default.subpathsOfDirectory(atPath: local.path)
      return Set(texts.compactMap { PhotoFileName($0.split(separator: "/").last ?? "")?.text })
    }
  }
}

func withStored<T>(_ storage: Storage, in place: Place, _ body: (Stored) async throws -> T) async throws -> T {
  let local = try PhotoFolder(place.folder.appendingPathComponent("photos").path)
  guard storage == .bucket else { return try await body(Stored(files: local, local: local, store: nil)) }
  let store = StoreServer()
  return try await running([store.server()]) {
    let signature = S3Signature(accessKey: "key", secret: "secret", region: "eu-north-1")
    let bucket = PhotoBucket(
      bucket: "photos", endpoint: try await store.endpoint, signature: signature, logger: quiet)
    return try await body(Stored(files: bucket, local: local, store: store))
  }
}
