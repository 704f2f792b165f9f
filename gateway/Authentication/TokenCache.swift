import Clients
import Foundation
import Tokens
import Wire

/// A cache of verified tokens, so that each is verified once. Only valid tokens are cached, so invalid ones cannot fill
/// it.
struct TokenCache {
  final class Entry {
    let caller: Caller
    /// The session whose end invalidates this entry. For a token of an external issuer that means only that it has to
    /// be verified again.
    let session: SessionID
    /// False for a token of an external issuer.
    let isAccessToken: Bool
    fileprivate let token: [UInt8]
    fileprivate let expiresAt: Date

    fileprivate init(_ token: [UInt8], _ accessToken: AccessToken) {
      self.token = token
      caller = Caller(user: accessToken.user, session: accessToken.session)
      session = accessToken.session
      isAccessToken = true
      expiresAt = accessToken.expiresAt
    }

    fileprivate init(_ token: [UInt8], _ external: ExternalIdentities.VerifiedUser, _ caller: Caller) {
      self.token = token
      self.caller = caller
      session = .externalTokens(of: external.user)
      isAccessToken = false
      expiresAt = external.until
    }

    fileprivate func isValid(for token: Span<UInt8>, at now: Date) -> Bool {
      guard expiresAt > now, self.token.count == token.count else { return false }
      return self.token.withUnsafeBytes { own in
        token.withUnsafeBytes { given in
          guard let own = own.baseAddress, let given = given.baseAddress else { return false }
          return memcmp(own, given, token.count) == 0
        }
      }
    }
  }

  /// Keyed by the last bytes of the signature. Two generations bound the memory: when the young one is full, it
  /// replaces the old one.
  private var young: [UInt64: Entry] = [:]
  private var old: [UInt64: Entry] = [:]
  /// About 1 KB each. When more users than this take turns, most tokens are verified again, which doubles the work of a
  /// request.
  private let generationEntriesMax: Int

  /// The version of the keys with which the tokens were verified.
  let keyVersion: Int

  init(keyVersion: Int, generationEntriesMax: Int = 16_384) {
    self.keyVersion = keyVersion
    self.generationEntriesMax = generationEntriesMax
  }

  mutating func find(_ token: Range<Int>, _ bytes: Span<UInt8>, at now: Date) -> Entry? {
    guard let key = Self.key(bytes, token) else { return nil }
    if let found = young[key] { return found.isValid(for: bytes.extracting(token), at: now) ? found : nil }
    guard let found = old[key], found.isValid(for: bytes.extracting(token), at: now) else { return nil }
    insert(found, key)
    return found
  }

  mutating func insert(_ accessToken: AccessToken, for token: String) -> Entry {
    let bytes = Array(token.utf8)
    let entry = Entry(bytes, accessToken)
    if let key = Self.key(bytes.span, bytes.indices) { insert(entry, key) }
    return entry
  }

  mutating func insert(_ external: ExternalIdentities.VerifiedUser, _ caller: Caller, for token: String) {
    let bytes = Array(token.utf8)
    if let key = Self.key(bytes.span, bytes.indices) { insert(Entry(bytes, external, caller), key) }
  }

  private mutating func insert(_ entry: Entry, _ key: UInt64) {
    if young.count >= generationEntriesMax {
      old = young
      young.removeAll(keepingCapacity: true)
    }
    young[key] = entry
  }

  private static func key(_ bytes: Span<UInt8>, _ token: Range<Int>) -> UInt64? {
    guard token.count >= 8 else { return nil }
    return bytes.bytes.unsafeLoadUnaligned(fromByteOffset: token.upperBound - 8, as: UInt64.self)
  }
}
