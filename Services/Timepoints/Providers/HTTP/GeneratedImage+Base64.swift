import Foundation

extension GeneratedImage {
  private static let bytesMax = 24 * 1024 * 1024

  /// nil for what is no JPEG, PNG or WebP. The type is that of the bytes, as providers declare wrong ones at times.
  init?(base64 text: some StringProtocol, model: String) {
    guard let bytes = Data(base64Encoded: String(text)), bytes.count <= Self.bytesMax,
      let type = Self.contentType(of: bytes)
    else { return nil }
    self.init(bytes: bytes, contentType: type, model: model)
  }

  /// By the first bytes.
  static func contentType(of bytes: Data) -> String? {
    let start = Array(bytes.prefix(12))
    if start.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
    if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
    if start.starts(with: Array("RIFF".utf8)), Array(start.dropFirst(8)) == Array("WEBP".utf8) { return "image/webp" }
    return nil
  }
}
