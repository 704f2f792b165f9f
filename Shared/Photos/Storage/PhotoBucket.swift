import AsyncHTTPClient
import Clients
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import Wire

/// Photos in a bucket of an S3-compatible store, which several replicas can share. The bucket must hold nothing else
/// than the parts of ``PhotoStorage``.
package struct PhotoBucket: PhotoFiles {
  let bucket: String
  /// Precedes the names in the bucket: empty, or a word and a slash.
  var prefix = ""
  /// Scheme, host and port.
  let endpoint: String
  let signer: S3Signer
  let logger: Logger

  private static let triesMax = 3
  private static let listingBytesMax = 4 * 1024 * 1024
  private static let concurrentDeletesMax = 8

  package func store(_ bytes: [UInt8], as name: PhotoFileName) async throws {
    let headers = name.kind == .original ? [:] : ["content-type": "image/jpeg"]
    let response = try await send(request("PUT", path(name)), adding: headers, body: bytes)
    guard response.status == .ok else { throw await unexpected(response) }
  }

  package func original(of id: UUID, into folder: String) async throws -> UploadedFile? {
    let response = try await send(request("GET", path(PhotoFileName(id, .original))))
    guard response.status != .notFound else { return nil }
    guard response.status == .ok else { throw await unexpected(response) }
    var writer = try UploadWriter(in: folder)
    try await forEachChunk(of: response.body) { try await writer.append($0) }
    try await writer.flush()
    return writer.file
  }

  package func read(_ name: PhotoFileName, _ range: ByteRange?) async throws -> StoredBytes? {
    let response = try await send(request("GET", path(name)), adding: range.map { ["range": $0.header] } ?? [:])
    switch response.status {
    case .notFound: return nil
    case .ok:
      guard let count = response.headers.first(name: "content-length").flatMap({ Int($0) }) else {
        throw await unexpected(response)
      }
      return stored(response, 0..<count, of: count)
    case .partialContent:
      guard let (range, count) = Self.contentRange(response) else { throw await unexpected(response) }
      return stored(response, range, of: count)
    case .rangeNotSatisfiable: throw RangeNotSatisfiable(totalCount: try await byteCount(of: name))
    default: throw await unexpected(response)
    }
  }

  package func delete(_ names: [PhotoFileName]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, name) in names.enumerated() {
        if index >= Self.concurrentDeletesMax { try await group.next() }
        group.addTask { try await delete(name) }
      }
      try await group.waitForAll()
    }
  }

  package func list(after name: PhotoFileName?) async throws -> [PhotoFileName] {
    var start = name.map { prefix + $0.text }
    while true {
      // The delimiter leaves out the names of other parts.
      var query = ["list-type": "2", "max-keys": "1000", "delimiter": "/"]
      query["prefix"] = prefix.isEmpty ? nil : prefix
      query["start-after"] = start
      let response = try await send(request("GET", "/\(bucket)", query))
      guard response.status == .ok else { throw await unexpected(response) }
      let text = String(buffer: try await response.body.collect(upTo: Self.listingBytesMax))
      let keys = text.matches(of: /<Key>([^<]*)<\/Key>/).map { String($0.1) }
      let names = keys.compactMap { PhotoFileName($0.dropFirst(prefix.utf8.count)) }
      guard names.isEmpty, let last = keys.last, text.contains("<IsTruncated>true") else { return names.sorted() }
      start = last
    }
  }

  package func marker() async throws -> StorageMarkerID? {
    let response = try await send(request("GET", markerPath))
    guard response.status != .notFound else { return nil }
    guard response.status == .ok else { throw await unexpected(response) }
    var text = ""
    try await forEachChunk(of: response.body) { chunk in
      if text.utf8.count <= StorageMarkerID.textLength { text += String(buffer: chunk) }
    }
    guard let marker = StorageMarkerID(text) else { throw failed("\(Self.markerName) is no mark") }
    return marker
  }

  package func writeMarker(_ marker: StorageMarkerID) async throws {
    let response = try await send(request("PUT", markerPath), body: Array(marker.description.utf8))
    guard response.status == .ok else { throw await unexpected(response) }
  }

  package func uploadURL(of id: UUID, byteCount: Int, for lifetime: Duration) -> String? {
    let request = request("PUT", path(PhotoFileName(id, .original)))
    // The store checks the time against its own clock, so the signature uses the system clock.
    return endpoint
      + signer.presigned(
        request, bodyBytes: byteCount, at: Date(), seconds: Int(lifetime.components.seconds))
  }

  private func delete(_ name: PhotoFileName) async throws {
    let response = try await send(request("DELETE", path(name)))
    guard [.ok, .noContent, .notFound].contains(response.status) else { throw await unexpected(response) }
  }

  private func byteCount(of name: PhotoFileName) async throws -> Int {
    let response = try await send(request("HEAD", path(name)))
    guard let count = response.headers.first(name: "content-length").flatMap({ Int($0) }) else {
      throw await unexpected(response)
    }
    return count
  }

  private func stored(_ response: HTTPClientResponse, _ range: Range<Int>, of count: Int) -> StoredBytes {
    StoredBytes(
      totalCount: count, range: range,
      content: .chunks { write in try await forEachChunk(of: response.body, write) })
  }

  /// - Throws: ``Failure/unavailable`` when the store closes the connection before the end of the body.
  private func forEachChunk(
    of body: HTTPClientResponse.Body, _ consume: (ByteBuffer) async throws -> Void
  ) async throws {
    var chunks = body.makeAsyncIterator()
    while true {
      let chunk: ByteBuffer?
      do { chunk = try await chunks.next() } catch is CancellationError { throw CancellationError() } catch {
        throw failed("\(error)")
      }
      guard let chunk else { return }
      try await consume(chunk)
    }
  }

  /// The range and the total size in a `Content-Range` such as `bytes 0-99/1234`.
  private static func contentRange(_ response: HTTPClientResponse) -> (Range<Int>, Int)? {
    guard let text = response.headers.first(name: "content-range"),
      let match = text.wholeMatch(of: /bytes ([0-9]+)-([0-9]+)\/([0-9]+)/),
      let first = Int(match.1), let last = Int(match.2), let count = Int(match.3), first <= last, last < count
    else { return nil }
    return (first..<last + 1, count)
  }

  private func path(_ name: PhotoFileName) -> String { "/\(bucket)/\(prefix)\(name.text)" }

  private var markerPath: String { "/\(bucket)/\(prefix)\(Self.markerName)" }

  private func request(_ method: String, _ path: String, _ query: [String: String] = [:]) -> S3Signer.Request {
    let host = endpoint.split(separator: "/").last.map(String.init) ?? ""
    return S3Signer.Request(method: method, host: host, path: path, query: query)
  }

  /// Sends a request, up to three times: all requests here are safe to repeat. After that, a store that cannot be
  /// reached is a 503 to the caller.
  private func send(
    _ request: S3Signer.Request, adding headers: [String: String] = [:], body: [UInt8] = []
  ) async throws -> HTTPClientResponse {
    let query = S3Signer.canonical(request.query)
    for attempt in 1... {
      var outgoing = HTTPClientRequest(url: endpoint + request.path + (query.isEmpty ? "" : "?\(query)"))
      outgoing.method = HTTPMethod(rawValue: request.method)
      for (name, value) in signer.headers(request, adding: headers, body: body, at: Date()) {
        outgoing.headers.add(name: name, value: value)
      }
      if !body.isEmpty { outgoing.body = .bytes(ByteBuffer(bytes: body)) }
      do {
        let response = try await OutboundHTTP.client.execute(outgoing, timeout: .seconds(10))
        guard response.status.code >= 500, attempt < Self.triesMax else { return response }
      } catch is CancellationError { throw CancellationError() } catch {
        guard attempt < Self.triesMax else { throw failed("\(error)") }
      }
      try await Task.sleep(for: .milliseconds(Int.random(in: (50 << attempt)...(200 << attempt))))
    }
    throw Failure.unavailable
  }

  private func unexpected(_ response: HTTPClientResponse) async -> Failure {
    // `try?`: without a body the status is logged alone.
    let body = try? await response.body.collect(upTo: 4096)
    return failed("\(response.status.code) \(body.map { String(buffer: $0) } ?? "")")
  }

  private func failed(_ reason: String) -> Failure {
    logger.error("photo store", metadata: ["endpoint": "\(endpoint)", "error": "\(reason)"])
    return .unavailable
  }
}
