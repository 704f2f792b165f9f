import Clients
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOFoundationCompat
import Web
import Wire

/// The export of all services as one JSON object, whose members are in the order of their names. It is written while the
/// services answer: all of it may be more than fits into memory.
struct ExportDocument: Sendable {
  private enum Part: Sendable {
    case text(String)
    case json(Data)
    /// All that a service has answered.
    case whole(ExportedData)
    /// A member of that, which is an array.
    case member(String, of: ExportedData)
  }

  private let parts: [Part]
  private let isKept: Bool

  init(_ own: PersonalDataExport, _ others: [ExportedData]) throws {
    let others = others.sorted { $0.service.rawValue < $1.service.rawValue }
    func member(_ name: String, of service: ServiceName) -> Part {
      others.first { $0.service == service }.map { Part.member(name, of: $0) } ?? .text("[]")
    }
    var parts: [Part] = [.text("{\"credit_history\":"), member("credit_history", of: .credits), .text(",\"data\":{")]
    for (index, other) in others.enumerated() {
      parts += [.text("\(index == 0 ? "" : ",")\"\(other.service.rawValue)\":"), .whole(other)]
    }
    parts += [.text("},\"identities\":"), .json(try JSON.encode(own.identities))]
    parts += [.text(",\"sessions\":"), .json(try JSON.encode(own.sessions))]
    parts += [.text(",\"timepoints\":"), member("timepoints", of: .timepoints)]
    parts += [.text(",\"unlinked_identities\":"), .json(try JSON.encode(own.unlinked))]
    parts += [.text(",\"user\":"), .json(try JSON.encode(own.user)), .text("}")]
    self.parts = parts
    isKept = others.allSatisfy(\.isKept)
  }

  /// When a service fails while its answer is passed on, the connection is closed before the end of the body, so that
  /// nobody takes a part for the whole.
  func response(_ logger: Logger) async throws -> Response {
    var headers: HTTPFields = [
      .contentType: "application/json", .contentDisposition: "attachment; filename=\"export.json\"",
    ]
    guard !isKept else {
      var body = ByteBuffer()
      try await write { body.writeImmutableBuffer($0) }
      headers[.contentLength] = String(body.readableBytes)
      return Response(status: .ok, headers: headers, body: .init(byteBuffer: body))
    }
    let trace = Trace.current
    return Response(
      status: .ok, headers: headers,
      body: .init { writer in
        try await Trace.$current.withValue(trace) {
          do { try await write { try await writer.write($0) } } catch let error where !(error is ChannelError) {
            // An error of the channel is that the client has closed it.
            logger.error("an export was broken off", metadata: ["error": "\(error)"])
            throw error
          }
        }
        try await writer.finish(nil)
      })
  }

  /// - Parameter write: called for part after part, each after the call for the previous one has returned.
  private func write(_ write: (ByteBuffer) async throws -> Void) async throws {
    for part in parts {
      switch part {
      case .text(let text): try await write(ByteBuffer(string: text))
      case .json(let data): try await write(ByteBuffer(data: data))
      case .whole(let data): try await Self.write(data, write)
      case .member(let name, let data): try await Self.write(name, of: data, write)
      }
    }
  }

  private static func write(_ data: ExportedData, _ write: (ByteBuffer) async throws -> Void) async throws {
    var last: UInt8?
    for try await part in try await data.parts() where part.readableBytes > 0 {
      last = part.readableBytesView.last
      try await write(part)
    }
    guard last == UInt8(ascii: "}") else { throw Failure.broken }
  }

  /// - Throws: ``Wire/Failure/broken`` when the object does not end.
  private static func write(
    _ name: String, of data: ExportedData, _ write: (ByteBuffer) async throws -> Void
  ) async throws {
    var finder = JSONMemberFinder(name)
    for try await part in try await data.parts() {
      let range = part.withUnsafeReadableBytes { finder.range(in: $0) }
      guard !range.isEmpty else { continue }
      if let value = part.getSlice(at: part.readerIndex + range.lowerBound, length: range.count) {
        try await write(value)
      }
    }
    guard finder.hasEnded else { throw Failure.broken }
    if !finder.hasFound { try await write(ByteBuffer(string: "[]")) }
  }
}
