/// Random secrets: keys, salts, tokens and codes. The system's generator is cryptographic.
package enum Random {
  /// Upper-case letters and digits without those that are easily confused with each other, for codes that people type.
  package static let unambiguousCharacters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")

  package static func bytes(count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  /// - Parameter characters: must not be empty; all are equally likely.
  package static func text(count: Int, of characters: [Character]) -> String {
    var generator = SystemRandomNumberGenerator()
    return String((0..<count).map { _ in characters[Int.random(in: characters.indices, using: &generator)] })
  }
}
