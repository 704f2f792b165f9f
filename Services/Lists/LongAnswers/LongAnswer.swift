import Crypto
import Foundation
import Hummingbird
import NIOCore
import NIOFoundationCompat
import Synchronization
import Tokens
import Web
import Wire

/// An answer with one long array in it, which is read and written piece by piece. Of each there is one piece in memory,
/// however slowly it is read, and nobody holds a connection of the database meanwhile.
struct LongAnswer: Sendable {
  private let head: Data
  private let tail: Data
  private let first: FirstPiece
  private let digestOfFirst: Data
  private let rest: Range<Int>
  private let piece: @Sendable (Int) async throws -> Data

  /// - Parameters:
  ///   - body: the answer, in which `member` is an empty array.
  ///   - pieces: how many there are, at least one.
  ///   - piece: some of the array, as an array in JSON. The first is read here, so that what fails before anything was
  ///     written is answered as a failure.
  init(
    _ body: some Encodable, filling member: String, pieces: Int, piece: @escaping @Sendable (Int) async throws -> Data
  ) async throws {
    let whole = try JSON.encodeExact(body)
    // A quote within a text is escaped, so these bytes are the member itself.
    guard let hole = whole.range(of: Data("\"\(member)\":[]".utf8)) else { throw Failure.broken }
    head = whole[..<(hole.upperBound - 1)]
    tail = whole[(hole.upperBound - 1)...]
    let first = try await piece(0)
    self.first = FirstPiece(first)
    digestOfFirst = Self.digest(first)
    rest = 1..<max(pieces, 1)
    self.piece = piece
  }

  /// The tag of an answer of which not all is there yet: a digest of what is, and of all on which the rest depends.
  func tag(version: Int?, and others: [Data]) -> String {
    var digest = SHA256()
    for part in [Self.digest(head), Self.digest(tail), digestOfFirst] + others.map(Self.digest) {
      digest.update(data: part)
    }
    let text = Base64URL.encode(digest.finalize().prefix(12))
    return version.map { "\"\($0)-\(text)\"" } ?? "\"\(text)\""
  }

  /// A piece that cannot be read breaks the connection off: the client sees that the answer is not whole.
  ///
  /// - Parameter tag: nil for an answer without one.
  func response(to request: Request, tag: String?) -> Response {
    if let tag, request.knows(tag) { return Response(status: .notModified, headers: [.eTag: tag]) }
    var headers: HTTPFields = [.contentType: "application/json"]
    headers[.eTag] = tag
    return Response(status: .ok, headers: headers, body: .init { writer in try await write(to: &writer) })
  }

  private func write(to writer: inout any ResponseBodyWriter) async throws {
    var isEmpty = try await begin(&writer)
    for index in rest {
      // On the event loop of the connection nothing may take long.
      let items = try await elsewhere(if: true) { Self.items(of: try await piece(index)) }
      guard !items.isEmpty else { continue }
      var buffer = ByteBuffer(string: isEmpty ? "" : ",")
      buffer.writeData(items)
      isEmpty = false
      try await writer.write(buffer)
    }
    try await writer.write(ByteBuffer(data: tail))
    try await writer.finish(nil)
  }

  /// Whether the array is still empty.
  private func begin(_ writer: inout any ResponseBodyWriter) async throws -> Bool {
    let items = Self.items(of: first.taken())
    try await writer.write(ByteBuffer(data: head + items))
    return items.isEmpty
  }

  /// What stands between the brackets.
  private static func items(of array: Data) -> Data { array.dropFirst().dropLast() }

  private static func digest(_ data: Data) -> Data { SHA256.hash(data: data).withUnsafeBytes { Data($0) } }
}

/// The piece that was read before the answer began, kept no longer than until it is written.
private final class FirstPiece: Sendable {
  private let piece: Mutex<Data>

  init(_ piece: Data) { self.piece = Mutex(piece) }

  func taken() -> Data {
    piece.withLock { piece in
      defer { piece = Data() }
      return piece
    }
  }
}

extension Request {
  /// Whether the client has what the tag is of (`If-None-Match`, RFC 9110 §13.1.2).
  func knows(_ tag: String) -> Bool {
    guard let known = headers[.ifNoneMatch] else { return false }
    return EntityTag.entries(known).contains { $0 == "*" || "\"\($0)\"" == tag || "\($0)" == "W/\(tag)" }
  }
}
