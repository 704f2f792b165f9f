import Foundation
import Tokens

/// What the App Store signs: a JWS in compact serialization (RFC 7515 §7.1) whose header has the certificates of the
/// key. Parsed strictly, and not verified yet.
struct AppStoreSignedData: Sendable {
  private let chain: [String]
  private let message: [UInt8]
  private let signature: [UInt8]
  private let payload: Data

  /// A notification has two more of these inside of it; Apple's have less than 30 kilobytes.
  static let bytesMax = 256 * 1024
  /// The header has three certificates.
  private static let headerBytesMax = 24 * 1024

  private struct Header: Decodable {
    let alg: String
    let x5c: [String]
    let crit: [String]?
    let b64: Bool?
  }

  /// - Throws: ``SignedDataRejected``: `algorithm` unless it is ES256, else `malformed` for what is not canonical or has
  ///   header members that change what is signed (`crit`, `b64`).
  init(_ text: String) throws(SignedDataRejected) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Self.bytesMax else { throw .malformed }
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].count <= Self.headerBytesMax, let header = Base64URL.decode(parts[0]),
      let payload = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2])
    else { throw .malformed }
    // `try?`: a header that cannot be decoded throws `.malformed`.
    guard let header = try? JSONDecoder().decode(Header.self, from: Data(header)), header.crit == nil,
      header.b64 != false
    else { throw .malformed }
    guard header.alg == "ES256" else { throw .algorithm }
    self.chain = header.x5c
    self.message = Array(bytes[..<(parts[0].count + 1 + parts[1].count)])
    self.signature = signature
    self.payload = Data(payload)
  }

  /// The payload, after verifying that a certificate of the App Store signed it.
  func verified<Payload: AppStorePayload>(
    _ type: Payload.Type, by certificates: CertificateChainVerifier
  ) async throws(SignedDataRejected) -> Payload {
    // `try?`: a payload that is not JSON, or lacks what all payloads have, throws `.malformed`.
    guard let decoded = try? JSONDecoder().decode(Payload.self, from: payload) else { throw .malformed }
    let key = try await certificates.key(of: chain, signedAt: decoded.signedAt)
    guard VerifyingKey.es256(key).isValid(signature, for: message) else { throw .signature }
    return decoded
  }
}

/// A payload of the App Store's signed data.
protocol AppStorePayload: Decodable, Sendable {
  /// When the App Store signed it, by its own clock.
  var signedAt: Date { get }
}

/// A time in a payload, in milliseconds since 1970.
struct Milliseconds: Decodable, Sendable, Hashable {
  let date: Date

  /// The last millisecond of the year 9999, which a time in the database can have.
  private static let max = 253_402_300_799_999

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let value = try container.decode(Int.self)
    guard (0...Self.max).contains(value) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "must be milliseconds since 1970")
    }
    date = Date(timeIntervalSince1970: Double(value) / 1000)
  }
}
