import NIOSSL
import Synchronization

/// The TLS of connections to services with an `https` URL. It is set up at the first use, as reading the system's trust
/// roots takes long.
final class UpstreamTLS: Sendable {
  private let trustRoots: NIOSSLTrustRoots
  private let made = Mutex<NIOSSLContext?>(nil)

  init(trustRoots: NIOSSLTrustRoots) { self.trustRoots = trustRoots }

  func context() throws -> NIOSSLContext {
    try made.withLock { made in
      if let made { return made }
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.trustRoots = trustRoots
      let context = try NIOSSLContext(configuration: configuration)
      made = context
      return context
    }
  }
}
