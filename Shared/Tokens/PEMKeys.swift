import Crypto
import Foundation

/// P-256 keys in one PEM text (RFC 7468): the first private key signs, all of them verify.
package struct PEMKeys: Sendable {
  package private(set) var signing: SigningKey?
  package private(set) var publicKeys: [P256.Signing.PublicKey] = []

  package init() {}

  /// - Throws: `CryptoKitError` when a block is not a private (SEC1 or PKCS #8) or public P-256 key.
  package init(_ text: String) throws {
    for block in Self.blocks(text) {
      if block.contains("PRIVATE KEY") {
        publicKeys.append(try P256.Signing.PrivateKey(pemRepresentation: block).publicKey)
        if signing == nil { signing = try SigningKey(pem: block) }
      } else if block.contains("PUBLIC KEY") {
        publicKeys.append(try P256.Signing.PublicKey(pemRepresentation: block))
      }
    }
  }

  private static func blocks(_ text: String) -> [String] {
    var blocks: [String] = []
    var lines: [Substring] = []
    for line in text.split(whereSeparator: \.isNewline) {
      lines.append(line)
      guard line.hasPrefix("-----END") else { continue }
      let begin = lines.lastIndex { $0.hasPrefix("-----BEGIN") } ?? lines.startIndex
      blocks.append(lines[begin...].joined(separator: "\n"))
      lines = []
    }
    return blocks
  }
}
