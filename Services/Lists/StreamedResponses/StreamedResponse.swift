import Crypto
import Foundation
import Hummingbird
import NIOCore
import NIOFoundationCompat
import Synchronization
import Web
import Wire

/// A JSON response with one long array, which is read and written in chunks. Each response keeps at most one chunk in
/// memory, however slowly the client reads, and holds no database connection while it waits for the client.
struct StreamedResponse: Sendable {
  private let head: Data
  private let tail: Data
  private let first: FirstChunk
  private let digestOfFirst: Data
  private let rest: Range<Int>
  private let chunk: @Sendable (Int) async throws -> Data

  /// - Parameters:
  ///   - body: the body, in which `member` is an empty array.
  ///   - chunkCount: at least one.
  ///   - chunk: the chunk at an index, as a JSON array. The first one is read here, so that an error before the first
  ///     byte becomes an error response.
  init(
    _ body: some Encodable, arrayMember member: String, chunkCount: Int,
    chunk: @escaping @Sendable (Int) async throws -> Data
  ) async throws {
    let whole = try JSON.encodeExact(body)
    // Quotes inside strings are escaped, so these bytes can only be the member itself.
    guard let emptyArray = whole.range(of: Data("\"\(member)\":[]".utf8)) else { throw Failure.broken }
    head = whole[..<(emptyArray.upperBound - 1)]
    tail = whole[(emptyArray.upperBound - 1)...]
    let first = try await chunk(0)
    self.first = FirstChunk(first)
    digestOfFirst = Self.digest(first)
    rest = 1..<max(chunkCount, 1)
    self.chunk = chunk
  }

  /// The entity tag, computed before the whole response has been read: a digest of the first chunk, and of everything
  /// that the other chunks depend on.
  func tag(version: Int?, dependencies: [Data]) -> String {
    var digest = SHA256()
    for part in [Self.digest(head), Self.digest(tail), digestOfFirst] + dependencies.map(Self.digest) {
      digest.update(data: part)
    }
    return EntityTag.of(digest.finalize(), version: version)
  }

  /// When a chunk cannot be read, the connection is closed before the end of the body, so that the client detects the
  /// truncated response.
  ///
  /// - Parameter tag: the value of `ETag`; nil for a response without one.
  func response(to request: Request, tag: String?) -> Response {
    if let tag, request.ifNoneMatchIncludes(tag, .lenient) {
      return Response(status: .notModified, headers: [.eTag: tag])
    }
    var headers: HTTPFields = [.contentType: "application/json"]
    headers[.eTag] = tag
    return Response(status: .ok, headers: headers, body: .init { writer in try await write(to: &writer) })
  }

  private func write(to writer: inout any ResponseBodyWriter) async throws {
    var isEmpty = try await writeHead(to: &writer)
    for index in rest {
      // Reading and encoding a chunk must not block the event loop of the connection.
      let items = try await offEventLoop(if: true) { Self.items(of: try await chunk(index)) }
      guard !items.isEmpty else { continue }
      var buffer = ByteBuffer(string: isEmpty ? "" : ",")
      buffer.writeData(items)
      isEmpty = false
      try await writer.write(buffer)
    }
    try await writer.write(ByteBuffer(data: tail))
    try await writer.finish(nil)
  }

  /// Writes the beginning of the body with the first chunk.
  ///
  /// - Returns: whether the array is still empty.
  private func writeHead(to writer: inout any ResponseBodyWriter) async throws -> Bool {
    let items = Self.items(of: first.take())
    try await writer.write(ByteBuffer(data: head + items))
    return items.isEmpty
  }

  /// The elements between the brackets.
  private static func items(of array: Data) -> Data { array.dropFirst().dropLast() }

  private static func digest(_ data: Data) -> Data { SHA256.hash(data: data).withUnsafeBytes { Data($0) } }
}

/// The chunk that was read before the response began, released as soon as it is written.
private final class FirstChunk: Sendable {
  private let chunk: Mutex<Data>

  init(_ chunk: Data) { self.chunk = Mutex(chunk) }

  func take() -> Data {
    chunk.withLock { chunk in
      defer { chunk = Data() }
      return chunk
    }
  }
}
