import Foundation
import Hummingbird
import NIOCore
import Traces
import Web
import Wire

extension PhotoFiles {
  /// Answers a GET or HEAD with a JPEG file, or with a range of it (RFC 9110 §13, §14): 200, 206, 304 or 416.
  ///
  /// - Parameters:
  ///   - eTag: the strong entity tag, with its quotes.
  ///   - headers: of the response, besides those of the content.
  /// - Returns: nil when the file does not exist.
  package func response(
    _ name: PhotoFileName, eTag: String, _ headers: HTTPFields, to request: Request
  ) async throws -> Response? {
    var headers = headers
    headers[.eTag] = eTag
    headers[.acceptRanges] = "bytes"
    if request.ifNoneMatchIncludes(eTag, .strict) { return Response(status: .notModified, headers: headers) }
    let isSame = request.headers[.ifRange].map { $0 == eTag } ?? true
    let range = isSame ? ByteRange(header: request.headers[.range]) : nil
    do {
      return try await read(name, range)?.response(isPartial: range != nil, headers)
    } catch let error as RangeNotSatisfiable {
      var response = Failure.rangeNotSatisfiable.response(to: request, requestID: Trace.current?.requestID ?? "")
      response.headers[.contentRange] = "bytes */\(error.totalCount)"
      return response
    }
  }
}

extension PhotoFiles {
  /// The response to a GET of a whole JPEG file that is in memory, as ``response(_:eTag:_:to:)`` is; nil for any other.
  package func cachedResponse(_ name: PhotoFileName, eTag: String) -> LoopResponse? {
    guard let bytes = cached(name) else { return nil }
    var response = LoopResponse(body: bytes)
    response.add("ETag", eTag)
    response.add("Accept-Ranges", "bytes")
    response.add("Content-Type", "image/jpeg")
    return response
  }
}

extension StoredBytes {
  fileprivate func response(isPartial: Bool, _ headers: HTTPFields) -> Response {
    var headers = headers
    headers[.contentType] = "image/jpeg"
    headers[.contentLength] = String(range.count)
    if isPartial { headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(totalCount)" }
    return Response(status: isPartial ? .partialContent : .ok, headers: headers, body: body)
  }

  private var body: ResponseBody {
    switch content {
    case .buffer(let buffer): ResponseBody(byteBuffer: buffer)
    case .chunks(let forEachChunk):
      ResponseBody(contentLength: range.count) { writer in
        try await forEachChunk { try await writer.write($0) }
        try await writer.finish(nil)
      }
    }
  }
}

extension Failure {
  static let rangeNotSatisfiable = Failure(
    .unsatisfiable, "range_not_satisfiable", "The photo does not have these bytes.")
}
