import CArgon2
import Foundation
import Tokens

/// Argon2id (RFC 9106) with the reference library. Hashes are PHC strings: `$argon2id$v=19$m=47104,t=1,p=1$salt$hash`.
struct Argon2: Sendable, Hashable {
  let memoryKiB: UInt32
  let passes: UInt32
  let lanes: UInt32

  /// The parameters of OWASP's password storage cheat sheet: 46 MiB, about a tenth of a second.
  static let recommended = Argon2(memoryKiB: 47_104, passes: 1, lanes: 1)

  private static let saltBytes = 16
  private static let hashBytes = 32

  /// An error code of the library.
  struct LibraryError: Error {
    let code: Int32

    var isOutOfMemory: Bool { code == ARGON2_MEMORY_ALLOCATION_ERROR.rawValue }
  }

  /// Takes about 100 ms and ``memoryKiB`` of memory.
  func hash(_ password: SecretBytes) throws -> String {
    let salt = Random.bytes(count: Self.saltBytes)
    let length = argon2_encodedlen(
      passes, memoryKiB, lanes, UInt32(Self.saltBytes), UInt32(Self.hashBytes), Argon2_id)
    var encoded = [CChar](repeating: 0, count: length)
    let code = password.withBytes { bytes in
      argon2id_hash_encoded(
        passes, memoryKiB, lanes, bytes.baseAddress, bytes.count, salt, salt.count, Self.hashBytes, &encoded, length)
    }
    guard code == ARGON2_OK.rawValue else { throw LibraryError(code: code) }
    return String(decoding: encoded.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Takes the time and memory of the hash's parameters, whether or not the password matches.
  static func matches(_ password: SecretBytes, _ hash: String) throws -> Bool {
    let code = password.withBytes { argon2id_verify(hash, $0.baseAddress, $0.count) }
    switch code {
    case ARGON2_OK.rawValue: return true
    case ARGON2_VERIFY_MISMATCH.rawValue: return false
    default: throw LibraryError(code: code)
    }
  }

  /// Whether a hash was made with these parameters.
  func isCurrent(_ hash: String) -> Bool {
    let parts = hash.split(separator: "$", omittingEmptySubsequences: false)
    return parts.count == 6 && hash.hasPrefix(start) && parts[4].utf8.count == Self.base64Length(Self.saltBytes)
      && parts[5].utf8.count == Self.base64Length(Self.hashBytes)
  }

  /// A hash that no password matches; comparing takes as long as with any other.
  var dummyHash: String {
    let zeros = { String(repeating: "A", count: Self.base64Length($0)) }
    return start + zeros(Self.saltBytes) + "$" + zeros(Self.hashBytes)
  }

  private var start: String { "$argon2id$v=19$m=\(memoryKiB),t=\(passes),p=\(lanes)$" }

  /// The length of `bytes` bytes in base64 without padding.
  private static func base64Length(_ bytes: Int) -> Int { (bytes * 4 + 2) / 3 }
}

/// Bytes that are wiped from memory when they are released.
///
/// `@unchecked Sendable`: they do not change before that.
final class SecretBytes: @unchecked Sendable {
  private let buffer: UnsafeMutableRawBufferPointer

  init(_ bytes: some Collection<UInt8>) {
    buffer = .allocate(byteCount: bytes.count, alignment: 1)
    buffer.copyBytes(from: bytes)
  }

  deinit {
    kith_wipe(buffer.baseAddress, buffer.count)
    buffer.deallocate()
  }

  var count: Int { buffer.count }

  func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
    try body(UnsafeRawBufferPointer(buffer))
  }
}
