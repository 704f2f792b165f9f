import HTTPTypes
import NIOCore
import StrictHTTP
import Wire

/// The names of header fields that most requests have. Comparing bytes with them costs less than validating a name and
/// converting it to lower case.
enum HeaderNames {
  private struct Known {
    let name: HTTPField.Name
    /// In lower case.
    let bytes: [UInt8]
  }

  private static let byLength: [[Known]] = {
    let names: [HTTPField.Name] = [
      .accept, .acceptEncoding, .acceptLanguage, .authorization, .connection, .contentLength, .contentType, .ifMatch,
      .ifNoneMatch, .userAgent, .transferEncoding, .serviceKey, .serviceName, .userID, .sessionID, .requestID,
      .traceparent, .tracestate, .idempotencyKey, .forwardedFor, .timeout,
    ]
    var lengths: [[Known]] = Array(repeating: [], count: HTTPLimits.fieldNameBytesMax + 1)
    for name in names {
      let bytes = Array(name.canonicalName.utf8)
      lengths[bytes.count].append(Known(name: name, bytes: bytes))
    }
    return lengths
  }()

  /// - Parameter buffer: begins with the head of the request.
  /// - Returns: nil only for bytes that are no name, which the head has been checked for.
  static func name(of field: Fields.Field, in buffer: ByteBuffer) -> HTTPField.Name? {
    let start = field.line.start
    let length = Int(field.nameEnd) - start
    let bytes = buffer.readableBytesUInt8Span
    for known in byLength[length] where isSame(bytes, start, known.bytes) { return known.name }
    return buffer.getString(at: buffer.readerIndex + start, length: length).flatMap { HTTPField.Name($0) }
  }

  /// - Parameter name: in lower case. Letters differ from it in one bit only, which digits and hyphens have set anyway.
  private static func isSame(_ bytes: Span<UInt8>, _ start: Int, _ name: [UInt8]) -> Bool {
    for index in name.indices where bytes[start + index] | 0x20 != name[index] { return false }
    return true
  }
}
