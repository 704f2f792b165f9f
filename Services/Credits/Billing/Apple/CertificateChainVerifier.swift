import Crypto
import Foundation
import SwiftASN1
import Synchronization
@_spi(FixedExpiryValidationTime) import X509

/// Verifies the certificate chains in the headers of the App Store's signed data against the configured roots, offline.
///
/// A chain that has been verified is kept in memory: the App Store signs with few leaf certificates, and the signatures
/// of a chain take longer than the rest of the verification.
final class CertificateChainVerifier: Sendable {
  /// What a verified chain vouches for: the leaf's key, within the time in which all three certificates are valid.
  private struct Verified {
    let key: P256.Signing.PublicKey
    let notBefore: Date
    let notAfter: Date
  }

  private let roots: [Certificate]
  private let verified = Mutex<[[String]: Verified]>([:])

  /// The App Store has about one leaf certificate at a time.
  private static let verifiedCountMax = 32
  /// The size of one certificate; Apple's have about a kilobyte.
  private static let certificateBytesMax = 4096

  init(roots: [Certificate]) { self.roots = roots }

  /// The key of the leaf certificate.
  ///
  /// - Parameters:
  ///   - chain: the members of `x5c` (RFC 7515 §4.1.6): leaf, intermediate and root.
  ///   - time: when the data was signed, by its own account; the certificates must have been valid then.
  func key(of chain: [String], signedAt time: Date) async throws(SignedDataRejected) -> P256.Signing.PublicKey {
    // OpenSSL, and so Apple's own library, compares whole seconds.
    let time = Date(timeIntervalSince1970: time.timeIntervalSince1970.rounded(.down))
    if let known = verified.withLock({ $0[chain] }) {
      guard known.notBefore <= time, time <= known.notAfter else { throw .chain }
      return known.key
    }
    let new = try await verify(chain, at: time)
    verified.withLock { all in
      if all.count >= Self.verifiedCountMax { all.removeAll() }
      all[chain] = new
    }
    return new.key
  }

  private func verify(_ chain: [String], at time: Date) async throws(SignedDataRejected) -> Verified {
    guard chain.count == 3 else { throw .chain }
    let (leaf, intermediate) = (try Self.certificate(chain[0]), try Self.certificate(chain[1]))
    // Certificates are equal when their bytes are.
    let presented = try Self.certificate(chain[2])
    guard let root = roots.first(where: { $0 == presented }) else { throw .chain }
    guard Self.isMarked(leaf, .appStoreSigning), Self.isMarked(intermediate, .appleWorldwideDeveloperRelations),
      [intermediate, root].allSatisfy(Self.maySign), let key = P256.Signing.PublicKey(leaf.publicKey)
    else { throw .chain }
    var verifier = Verifier(rootCertificates: CertificateStore([root])) {
      RFC5280Policy(fixedExpiryValidationTime: time)
    }
    let result = await verifier.validate(leaf: leaf, intermediates: CertificateStore([intermediate]))
    // By the names in the certificates the verifier might have found another, shorter way.
    guard case .validCertificate(let found) = result, Array(found) == [leaf, intermediate, root] else { throw .chain }
    let all = [leaf, intermediate, root]
    return Verified(
      key: key, notBefore: all.map(\.notValidBefore).max() ?? .distantFuture,
      notAfter: all.map(\.notValidAfter).min() ?? .distantPast)
  }

  /// `x5c` has base64, not base64url.
  private static func certificate(_ text: String) throws(SignedDataRejected) -> Certificate {
    guard text.utf8.count <= certificateBytesMax * 4 / 3, let der = Data(base64Encoded: text) else { throw .chain }
    do { return try Certificate(derEncoded: Array(der)) } catch { throw .chain }
  }

  private static func isMarked(_ certificate: Certificate, _ marker: ASN1ObjectIdentifier) -> Bool {
    certificate.extensions[oid: marker] != nil
  }

  /// The policy of RFC 5280 above does not look at the key usage.
  private static func maySign(_ authority: Certificate) -> Bool {
    // `try?`: an extension that cannot be read allows nothing.
    (try? authority.extensions.keyUsage)?.keyCertSign == true
  }
}

extension ASN1ObjectIdentifier {
  /// Apple's marker extension of leaf certificates with which the App Store signs receipts and transactions.
  fileprivate static let appStoreSigning: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
  /// Apple's marker extension of the intermediate authority "Worldwide Developer Relations".
  fileprivate static let appleWorldwideDeveloperRelations: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]
}

/// Why signed data is not the App Store's. Clients get only a 400.
enum SignedDataRejected: String, Error, Sendable {
  case malformed, algorithm, chain, signature
}
