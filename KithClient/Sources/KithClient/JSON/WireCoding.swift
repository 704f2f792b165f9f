import Foundation

/// How bodies are read and written: their types name the members, and times are RFC 3339.
enum WireCoding {
  static func decode<Body: Decodable>(_ type: Body.Type = Body.self, from data: Data) throws -> Body {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      let text = try container.decode(String.self)
      guard let date = Date(rfc3339: text) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no time")
      }
      return date
    }
    do { return try decoder.decode(type, from: data) } catch {
      throw KithFailure.undecodable("\(type): \(error)")
    }
  }

  static func encode(_ body: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(date.rfc3339)
    }
    return try encoder.encode(body)
  }
}

extension Date {
  private static let whole = Date.ISO8601FormatStyle()
  private static let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// With or without a fraction of a second.
  init?(rfc3339 text: String) {
    let style = text.contains(".") ? Self.fractional : Self.whole
    // `try?`: nil for what is no time.
    guard let date = try? style.parse(text) else { return nil }
    self = date
  }

  /// In UTC, with milliseconds. The style cuts digits off: what is a little less than a millisecond, because a `Double`
  /// cannot be exact, must not lose it.
  var rfc3339: String {
    Self.fractional.format(Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded() / 1000 + 0.0001))
  }
}
