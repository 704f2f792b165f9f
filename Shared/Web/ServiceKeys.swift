import Crypto
import Foundation

/// The keys with which processes and outside systems prove who they are (`SERVICE_KEYS`, `SERVICE_KEY`).
///
/// `SERVICE_KEYS="gateway:…,auth:…,billing+credits:…,sync+act:…"`. A name may come twice while its key rotates. What
/// follows a plus sign is what an outside system may do besides `users/resolve`: `act` as a user whom it names in
/// `X-User-ID`, and use the ledger's internal routes (`credits`). With `SERVICE_KEY` alone that key is everyone's.
package struct ServiceKeys: Sendable {
  private let entries: [(service: CallingService, digest: [UInt8])]

  /// - Throws: ``StartFailure`` for an entry that is not `name:key`; in production for a key that is too weak, and without
  ///   any, or without this process's own.
  package init(_ settings: Settings) throws {
    if let listed = settings.nonempty("SERVICE_KEYS") {
      entries = try listed.split(separator: ",").map { entry in
        let parts = entry.trimmingCharacters(in: .whitespaces).split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { throw StartFailure("SERVICE_KEYS must be name:key,name:key") }
        try settings.requireStrength(of: String(parts[1]), in: "SERVICE_KEYS (\(parts[0]))")
        return (CallingService(named: String(parts[0])), Self.digest(String(parts[1])))
      }
    } else if let shared = settings.nonempty("SERVICE_KEY") {
      try settings.requireStrength(of: shared, in: "SERVICE_KEY")
      entries = [(CallingService.everyone, Self.digest(shared))]
    } else {
      entries = []
    }
    guard try settings.stage() == .production else { return }
    guard !entries.isEmpty else { throw StartFailure("SERVICE_KEYS is not set; `make env` writes a .env") }
    // The one that this process shows to others.
    _ = try settings.secret("SERVICE_KEY")
  }

  /// Without any key no service is ever believed.
  package var isEmpty: Bool { entries.isEmpty }

  /// Whose key it is. Takes the same time whichever matches, or none.
  package func service(presenting key: String) -> CallingService? {
    let presented = Self.digest(key)
    var found: CallingService?
    for entry in entries where Self.equal(entry.digest, presented) { found = entry.service }
    return found
  }

  private static func digest(_ key: String) -> [UInt8] { Array(SHA256.hash(data: Data(key.utf8))) }

  private static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    zip(left, right).reduce(UInt8(left.count == right.count ? 0 : 1)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Compares two secrets in constant time.
  package static func same(_ left: String, _ right: String) -> Bool { equal(digest(left), digest(right)) }
}

/// Who presented a service key, and what that name may do.
package struct CallingService: Sendable, Hashable {
  package let name: String
  private let scopes: Set<Substring>
  private let isEveryone: Bool

  init(named text: String) {
    let parts = text.split(separator: "+")
    self.name = parts.first.map(String.init) ?? ""
    self.scopes = Set(parts.dropFirst())
    self.isEveryone = false
  }

  private init(everyone name: String) {
    self.name = name
    self.scopes = []
    self.isEveryone = true
  }

  static let everyone = CallingService(everyone: "shared")

  package var isGateway: Bool { isEveryone || name == "gateway" }

  /// Whether it may say on whose behalf it calls.
  package var mayAssertUsers: Bool { isGateway || scopes.contains("act") }

  /// Whether it is one of `names`, or has been given the scope.
  package func isAdmitted(as names: Set<String>, scope: String? = nil) -> Bool {
    isEveryone || names.contains(name) || scope.map { scopes.contains($0[...]) } ?? false
  }
}
