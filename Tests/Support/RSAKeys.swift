import CryptoExtras
import Synchronization

/// RSA keys for the servers of tests. Generating one takes most of a second in a debug build, and each stack has one: a
/// few are used in turn, so that the servers of a test have different ones.
enum RSAKeys {
  private static let state = Mutex((keys: [_RSA.Signing.PrivateKey](), next: 0))
  private static let countMax = 16

  static func next() throws -> _RSA.Signing.PrivateKey {
    try state.withLock { state in
      defer { state.next += 1 }
      if state.keys.count < countMax { state.keys.append(try _RSA.Signing.PrivateKey(keySize: .bits2048)) }
      return state.keys[state.next % countMax]
    }
  }
}
