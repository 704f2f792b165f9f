import Crypto
import Foundation
import SwiftASN1
import X509

/// A certificate chain like that of the App Store: a root, the intermediate authority for developers, and the leaf that
/// signs, the last two with Apple's marker extensions. Each can be made wrong.
package struct AppStoreCertificates: Sendable {
  /// What differs from a good chain.
  package struct Defects: Sendable {
    package var leafIsMarked = true
    package var intermediateIsMarked = true
    package var intermediateIsAuthority = true
    package var intermediateMaySign = true
    /// The leaf names the intermediate as its issuer, but has another's signature.
    package var leafIsForged = false
    package var intermediateIsForged = false
    package var intermediateValidity = years(-3, 10)
    package var leafValidity = years(-1, 5)
    package var leafHasUnknownCriticalExtension = false

    package init() {}

    package static func years(_ from: Double, _ to: Double) -> ClosedRange<Date> {
      let now = Date()
      return now + from * 31_557_600...now + to * 31_557_600
    }
  }

  package let root: Certificate
  package let intermediate: Certificate
  package let leaf: Certificate
  /// Of the leaf.
  package let key: P256.Signing.PrivateKey
  private let rootKey: P384.Signing.PrivateKey

  /// - Parameter shared: a chain whose root this one shares.
  package init(_ defects: Defects = Defects(), under shared: AppStoreCertificates? = nil) throws {
    let (intermediateKey, key, other) = (
      P384.Signing.PrivateKey(), P256.Signing.PrivateKey(), P384.Signing.PrivateKey()
    )
    let rootKey = shared?.rootKey ?? P384.Signing.PrivateKey()
    let rootName = try Self.name("Test Root CA - G3")
    let intermediateName = try Self.name("Test Worldwide Developer Relations")
    root =
      try shared?.root
      ?? Self.certificate(
        rootName, .init(rootKey.publicKey), issuer: rootName, .init(rootKey.publicKey), .init(rootKey),
        Defects.years(-5, 20),
        [
          .init(BasicConstraints.isCertificateAuthority(maxPathLength: nil), critical: true),
          .init(KeyUsage(keyCertSign: true, cRLSign: true), critical: true),
        ])
    var extensions = [
      try Certificate.Extension(
        defects.intermediateIsAuthority
          ? BasicConstraints.isCertificateAuthority(maxPathLength: 0) : .notCertificateAuthority, critical: true),
      try .init(
        KeyUsage(digitalSignature: !defects.intermediateMaySign, keyCertSign: defects.intermediateMaySign),
        critical: true),
    ]
    if defects.intermediateIsMarked { extensions.append(Self.marker([1, 2, 840, 113635, 100, 6, 2, 1])) }
    intermediate = try Self.certificate(
      intermediateName, .init(intermediateKey.publicKey), issuer: rootName, .init(rootKey.publicKey),
      .init(defects.intermediateIsForged ? other : rootKey), defects.intermediateValidity, extensions)
    extensions = [
      try .init(BasicConstraints.notCertificateAuthority, critical: true),
      try .init(KeyUsage(digitalSignature: true), critical: true),
    ]
    if defects.leafIsMarked { extensions.append(Self.marker([1, 2, 840, 113635, 100, 6, 11, 1])) }
    if defects.leafHasUnknownCriticalExtension {
      extensions.append(.init(oid: [1, 2, 840, 113635, 100, 6, 99], critical: true, value: [5, 0]))
    }
    leaf = try Self.certificate(
      Self.name("Test Mac App Store and iTunes Store Receipt Signing"), .init(key.publicKey), issuer: intermediateName,
      .init(intermediateKey.publicKey), .init(defects.leafIsForged ? other : intermediateKey), defects.leafValidity,
      extensions)
    self.key = key
    self.rootKey = rootKey
  }

  /// The member `x5c` of a header.
  package var chain: [String] {
    get throws { try [leaf, intermediate, root].map { Data(try Self.der($0)).base64EncodedString() } }
  }

  package var rootPEM: String { get throws { try root.serializeAsPEM().pemString } }

  package static func der(_ certificate: Certificate) throws -> [UInt8] {
    var serializer = DER.Serializer()
    try serializer.serialize(certificate)
    return serializer.serializedBytes
  }

  private static func name(_ common: String) throws -> DistinguishedName {
    try DistinguishedName {
      CommonName(common)
      OrganizationName("Test Inc.")
      CountryName("US")
    }
  }

  /// Apple's markers have the value NULL.
  private static func marker(_ oid: ASN1ObjectIdentifier) -> Certificate.Extension {
    .init(oid: oid, critical: false, value: [5, 0])
  }

  private static func certificate(
    _ subject: DistinguishedName, _ key: Certificate.PublicKey, issuer: DistinguishedName,
    _ issuerKey: Certificate.PublicKey, _ signer: Certificate.PrivateKey, _ validity: ClosedRange<Date>,
    _ extensions: [Certificate.Extension]
  ) throws -> Certificate {
    let identifiers = [
      try Certificate.Extension(SubjectKeyIdentifier(hash: key), critical: false),
      try .init(
        AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: issuerKey).keyIdentifier), critical: false),
    ]
    return try Certificate(
      version: .v3, serialNumber: .init(), publicKey: key, notValidBefore: validity.lowerBound,
      notValidAfter: validity.upperBound, issuer: issuer, subject: subject, signatureAlgorithm: .ecdsaWithSHA384,
      extensions: Certificate.Extensions(extensions + identifiers), issuerPrivateKey: signer)
  }
}
