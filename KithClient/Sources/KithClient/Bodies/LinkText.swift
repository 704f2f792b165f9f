import Foundation

/// A link as the server has written it. `URL` would encode what it takes for invalid, and what is encoded already.
struct LinkText: Sendable, Hashable, Codable {
  private let text: String
  let url: URL

  /// For who writes it.
  init(_ text: String) {
    self.text = text
    url = URL(string: text) ?? URL(fileURLWithPath: "/")
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    text = try container.decode(String.self)
    guard let url = URL(string: text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no URL")
    }
    self.url = url
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
