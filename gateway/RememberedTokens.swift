import Clients
import Foundation
import Tokens
import Wire

/// Tokens that were found good, so that each is verified once. Only good ones get in, so nobody can fill it with rubbish.
struct RememberedTokens {
  final class Believed {
    let caller: Caller
    /// With which this verdict ends. For bearers of outside issuers that is not the end, but a reason to ask again.
    let session: SessionID
    let isOurs: Bool
    fileprivate let token: [UInt8]
    fileprivate let expiresAt: Date

    fileprivate init(_ token: [UInt8], _ believed: AccessToken) {
      self.token = token
      caller = Caller(user: believed.user, session: believed.session)
      session = believed.session
      isOurs = true
      expiresAt = believed.expiresAt
    }

    fileprivate init(_ token: [UInt8], _ outsider: Outsiders.Believed, _ caller: Caller) {
      self.token = token
      self.caller = caller
      session = .outsideBearers(of: outsider.user)
      isOurs = false
      expiresAt = outsider.until
    }
  }

  /// By the last bytes of the signature. Two generations bound the memory: when the young one is full, the old one goes.
  private var young: [UInt64: Believed] = [:]
  private var old: [UInt64: Believed] = [:]
  private static let generationMax = 4096

  /// Of the keys with which the tokens were verified.
  let version: Int

  init(version: Int) { self.version = version }

  func peek(_ key: UInt64) -> Believed? { young[key] ?? old[key] }

  mutating func find(_ token: Range<Int>, _ bytes: Span<UInt8>, at now: Date) -> Believed? {
    guard let key = Self.key(bytes, token), let found = peek(key), found.token.count == token.count else { return nil }
    for index in found.token.indices where found.token[index] != bytes[token.lowerBound + index] { return nil }
    guard found.expiresAt > now else { return nil }
    if young[key] == nil { keep(found, key) }
    return found
  }

  mutating func remember(_ believed: AccessToken, for token: String) -> Believed {
    let bytes = Array(token.utf8)
    let kept = Believed(bytes, believed)
    if let key = Self.key(bytes.span, bytes.indices) { keep(kept, key) }
    return kept
  }

  mutating func remember(_ outsider: Outsiders.Believed, _ caller: Caller, for token: String) {
    let bytes = Array(token.utf8)
    if let key = Self.key(bytes.span, bytes.indices) { keep(Believed(bytes, outsider, caller), key) }
  }

  private mutating func keep(_ believed: Believed, _ key: UInt64) {
    if young.count >= Self.generationMax {
      old = young
      young.removeAll(keepingCapacity: true)
    }
    young[key] = believed
  }

  private static func key(_ bytes: Span<UInt8>, _ token: Range<Int>) -> UInt64? {
    guard token.count >= 8 else { return nil }
    return bytes.bytes.unsafeLoadUnaligned(fromByteOffset: token.upperBound - 8, as: UInt64.self)
  }
}
