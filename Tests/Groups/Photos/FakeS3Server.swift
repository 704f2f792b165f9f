import Foundation
import Hummingbird
import NIOCore
import Support
import Synchronization
import Web

@testable import Groups
@testable import Photos

/// An S3 store on loopback with one bucket, `photos`, that can be made to fail. It supports only the requests of
/// ``PhotoBucket``; S3Tests uses an independent implementation.
final class FakeS3Server: Sendable {
  private struct State {
    var objects: [String: [UInt8]] = [:]
    var refused: Set<String> = []
    var isEndless = false
    var breaksOff = false
    var listings = 0
  }

  private let state = Mutex(State())
  private let listening = ListeningPort()

  /// The names of the photos' files.
  var names: Set<String> { Set(state.withLock { $0.objects.keys.filter { PhotoFileName($0) != nil } }) }

  /// How many listings were requested.
  var listings: Int { state.withLock { $0.listings } }

  /// The objects whose deletion it refuses.
  var refused: Set<String> {
    get { state.withLock { $0.refused } }
    set { state.withLock { $0.refused = newValue } }
  }

  /// Whether listings never end.
  var isEndless: Bool {
    get { state.withLock { $0.isEndless } }
    set { state.withLock { $0.isEndless = newValue } }
  }

  /// Whether it closes the connection in the middle of each object.
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
      // The latency of a remote store.
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
      let contentRange = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)"
      return Response(
        status: .partialContent, headers: [.contentRange: contentRange],
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
    return loopbackServer(router, listening)
  }

  /// Pages of two, so that there is more than one.
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

/// The two kinds of storage.
enum StorageKind: CaseIterable {
  case folder, bucket
}

/// A storage of either kind.
struct TestStorage: Sendable {
  let files: any PhotoFiles
  let local: PhotoFolder
  /// nil for a folder.
  let store: FakeS3Server?

  var names: Set<String> {
    get throws {
      if let store { return store.names }
      let texts = try FileManager.default.subpathsOfDirectory(atPath: local.path)
      return Set(texts.compactMap { PhotoFileName($0.split(separator: "/").last ?? "")?.text })
    }
  }
}

func withStorage<T>(
  _ kind: StorageKind, in testDatabase: TestDatabase, _ body: (TestStorage) async throws -> T
) async throws -> T {
  let local = try PhotoFolder(testDatabase.folder.appendingPathComponent("photos").path)
  guard kind == .bucket else { return try await body(TestStorage(files: local, local: local, store: nil)) }
  let store = FakeS3Server()
  return try await running([store.server()]) {
    let signer = S3Signer(accessKey: "key", secret: "secret", region: "eu-north-1")
    let bucket = PhotoBucket(
      bucket: "photos", endpoint: try await store.endpoint, signer: signer, logger: quiet)
    return try await body(TestStorage(files: bucket, local: local, store: store))
  }
}
