import Hummingbird
import NIOCore
import Web
import Wire

extension AdventuresPersonalDataStore {
  func response(with export: PersonalDataExport) async throws -> Response { try await export.response() }
}

extension PersonalDataExport {
  /// When a later page cannot be read, the connection is closed before the end of the body, so that nobody takes it for
  /// the whole.
  func response() async throws -> Response {
    let sections = sections
    // Read here, so that a failure before the first byte becomes an error response.
    let first = try await sections[0].page(nil)
    return Response(
      status: .ok, headers: [.contentType: "application/json"],
      body: .init { writer in
        for (index, section) in sections.enumerated() {
          try await writer.write(ByteBuffer(string: "\(index == 0 ? "{" : ",")\"\(section.name)\":["))
          try await Self.write(section, from: index == 0 ? first : nil, to: &writer)
          try await writer.write(ByteBuffer(string: "]"))
        }
        try await writer.write(ByteBuffer(string: "}"))
        try await writer.finish(nil)
      })
  }

  /// - Parameter first: the first page, if it has been read.
  private static func write(
    _ section: Section, from first: [ExportedRow]?, to writer: inout any ResponseBodyWriter
  ) async throws {
    var last: String?
    while true {
      let (isFirst, key) = (last == nil, last)
      // Reading and encoding must not block the event loop of the connection.
      let (page, bytes) = try await offEventLoop(if: true) {
        let page = if isFirst, let first { first } else { try await section.page(key) }
        return (page, try encoded(page, isFirst: isFirst))
      }
      if !page.isEmpty { try await writer.write(ByteBuffer(bytes: bytes)) }
      guard page.count == section.pageSize, let end = page.last else { return }
      last = end.key
    }
  }

  /// With the members of each row in the order of their names, as in the exports of all services.
  private static func encoded(_ page: [ExportedRow], isFirst: Bool) throws -> [UInt8] {
    var bytes: [UInt8] = []
    for (index, row) in page.enumerated() {
      if index > 0 || !isFirst { bytes.append(UInt8(ascii: ",")) }
      bytes += try JSON.encode(JSONValue(row.tree))
    }
    return bytes
  }
}
