import Foundation

/// How bodies are read and written: names as ``WireNames``, times as RFC 3339.
enum WireCoding {
  struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  static func decode<Body: Decodable>(_ type: Body.Type = Body.self, from data: Data) throws -> Body {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .custom { path in
      Key(stringValue: path.last.map { WireNames.propertyName($0.stringValue) } ?? "")
    }
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

  /// - Parameter isSnakeCase: false for the collections and their share links, whose members are in camel case.
  static func encode(_ body: some Encodable, isSnakeCase: Bool = true) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isSnakeCase {
      encoder.keyEncodingStrategy = .custom { path in
        Key(stringValue: path.last.map { WireNames.wireName($0.stringValue) } ?? "")
      }
    }
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
