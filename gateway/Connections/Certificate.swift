import NIOSSL
import Synchronization
import Web

/// The TLS certificate of the gateway (`TLS_CERTIFICATE`, `TLS_KEY`), which can be reloaded when it has been renewed.
final class Certificate: Sendable {
  private let certificatePath: String
  private let keyPath: String
  private let current: Mutex<NIOSSLContext>

  /// nil when neither variable is set: the gateway serves plain HTTP, for development or behind a TLS proxy.
  ///
  /// - Throws: ``StartFailure`` when only one of the two is set, or when they cannot be read or do not match.
  init?(_ settings: Settings) throws {
    let certificate = settings.nonempty("TLS_CERTIFICATE")
    let key = settings.nonempty("TLS_KEY")
    guard certificate != nil || key != nil else { return nil }
    guard let certificate, let key else { throw StartFailure("TLS_CERTIFICATE and TLS_KEY belong together") }
    certificatePath = certificate
    keyPath = key
    current = Mutex(try Self.read(certificate, key))
  }

  var context: NIOSSLContext { current.withLock { $0 } }

  /// - Throws: ``StartFailure`` when the new files cannot be used; the old certificate stays in use then.
  func reload() throws {
    let fresh = try Self.read(certificatePath, keyPath)
    current.withLock { $0 = fresh }
  }

  private static func read(_ certificatePath: String, _ keyPath: String) throws -> NIOSSLContext {
    do {
      let chain = try NIOSSLCertificate.fromPEMFile(certificatePath).map { NIOSSLCertificateSource.certificate($0) }
      guard !chain.isEmpty else { throw StartFailure("TLS_CERTIFICATE: no certificate in \(certificatePath)") }
      let key = try NIOSSLPrivateKey(file: keyPath, format: .pem)
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: chain, privateKey: .privateKey(key))
      // RFC 8996 deprecates older versions.
      configuration.minimumTLSVersion = .tlsv12
      configuration.applicationProtocols = ["http/1.1"]
      return try NIOSSLContext(configuration: configuration)
    } catch let failure as StartFailure {
      throw failure
    } catch {
      throw StartFailure("TLS_CERTIFICATE and TLS_KEY cannot be used: \(error)")
    }
  }
}
