import Crypto
import Foundation
import Tokens

/// The keys that authenticate services and external systems (`SERVICE_KEYS`, `SERVICE_KEY`).
///
/// `SERVICE_KEYS="gateway:…,auth:…,billing+credits:…,sync+act:…"`. A name may occur twice while its key is rotated. A
/// plus sign adds a scope of an external system, beyond `users/resolve`: `act` as the user that it names in
/// `X-User-ID`, and `credits` for the ledger's internal routes. With `SERVICE_KEY` alone all services share that key.
package struct ServiceKeys: Sendable {
  private let entries: [(service: CallingService, key: [UInt8])]

  /// - Throws: ``StartFailure`` for an entry that is not `name:key`; in production also for a key that is too weak,
  ///   when there are no keys, and without this process's own `SERVICE_KEY`.
  package init(_ settings: Settings) throws {
    if let listed = settings.nonempty("SERVICE_KEYS") {
      entries = try listed.split(separator: ",").map { entry in
        let parts = entry.trimmingCharacters(in: .whitespaces).split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { throw StartFailure("SERVICE_KEYS must be name:key,name:key") }
        try settings.requireStrength(of: String(parts[1]), in: "SERVICE_KEYS (\(parts[0]))")
        return (CallingService(named: String(parts[0])), Array(parts[1].utf8))
      }
    } else if let shared = settings.nonempty("SERVICE_KEY") {
      try settings.requireStrength(of: shared, in: "SERVICE_KEY")
      entries = [(CallingService.shared, Array(shared.utf8))]
    } else {
      entries = []
    }
    guard try settings.stage() == .production else { return }
    guard !entries.isEmpty else { throw StartFailure("SERVICE_KEYS is not set; `make env` writes a .env") }
    // The key that this process sends to other services.
    _ = try settings.secret("SERVICE_KEY")
  }

  /// Without any key no service is authenticated.
  package var isEmpty: Bool { entries.isEmpty }

  /// The service that has this key. The time tells the length of the keys only, which is no secret, whichever entry
  /// matches or none.
  package func service(presenting key: String) -> CallingService? {
    let presented = Array(key.utf8)
    var found: CallingService?
    for entry in entries where ConstantTime.areEqual(entry.key, presented) { found = entry.service }
    return found
  }

  /// Compares two secrets, whose lengths may be secrets, too, in constant time.
  package static func areEqual(_ left: String, _ right: String) -> Bool {
    let digests = [left, right].map { Array(SHA256.hash(data: Data($0.utf8))) }
    return ConstantTime.areEqual(digests[0], digests[1])
  }
}

/// The service or external system that presented a service key, with its scopes.
package struct CallingService: Sendable, Hashable {
  package let name: String
  private let scopes: Set<Substring>
  /// Whether its key is the one that all services share.
  private let hasSharedKey: Bool

  init(named text: String) {
    let parts = text.split(separator: "+")
    self.name = parts.first.map(String.init) ?? ""
    self.scopes = Set(parts.dropFirst())
    self.hasSharedKey = false
  }

  private init(sharedKeyNamed name: String) {
    self.name = name
    self.scopes = []
    self.hasSharedKey = true
  }

  static let shared = CallingService(sharedKeyNamed: "shared")

  package var isGateway: Bool { hasSharedKey || name == "gateway" }

  /// Whether it may name the user on whose behalf it calls.
  package var mayAssertUsers: Bool { isGateway || scopes.contains("act") }

  /// Whether it is one of `names` or has `scope`.
  package func isAdmitted(as names: Set<String>, scope: String? = nil) -> Bool {
    hasSharedKey || names.contains(name) || scope.map { scopes.contains($0[...]) } ?? false
  }
}
