import Database
import Foundation
import Quotas
import Support
import Testing
import Tokens
import Web
import Wire

@testable import Auth

extension Calls {
  /// A password whose hash has other parameters than today's, an address that another account has claimed, and an
  /// address of Apple's that no longer forwards.
  func authStoreCalls() async throws {
    let (now, alice, bob) = (stack.clock.now, try await signIn(40), try await signIn(41))
    try await withDatabase(of: "auth") { database in
      try await database.write { db in
        _ = try PasswordStore.rehash("not a hash", of: alice.id, checked: "not a hash", on: db)
        _ = try PasswordStore.set("not a hash", of: alice.id, expecting: "not a hash", at: now, on: db)
        let email = try EmailAddress.required("claimed@example.com", field: "email")
        try AccountStore.assignEmail(email, isVerified: false, to: alice.id, at: now, on: db)
        _ = try AccountStore.hasOtherIdentities(alice.id, than: email.canonical, on: db)
        try AccountStore.assignEmail(email, isVerified: true, to: bob.id, at: now, on: db)
        let relayed = try EmailAddress.required("a1000@privaterelay.appleid.com", field: "email")
        _ = try AppleIdentityStore.isForwardingDisabled(relayed, on: db)
      }
      let keys = try #require(DataKeys(["a data key", "an older data key"]))
      try await exhaustQuota(in: database, keys)
      try await repeatAfterExpiry(in: database, keys)
    }
  }

  private func exhaustQuota(in database: any Database, _ keys: DataKeys) async throws {
    let (quota, now) = (Quota(name: "plans", limit: 1, window: .seconds(60)), stack.clock.now)
    await #expect(throws: Failure.self) {
      try await database.write { db in
        for _ in 0..<2 { try QuotaStore(keys: keys).take(quota, for: "plans", at: now, on: db) }
      }
    }
  }

  /// The same idempotency key two days later.
  private func repeatAfterExpiry(in database: any Database, _ keys: DataKeys) async throws {
    let call = IdempotentCall(
      caller: "plans", route: "plans", key: "plans", path: "/plans", content: Data("{}".utf8), requestID: "plans")
    for now in [stack.clock.now, stack.clock.now + 2 * 86_400] {
      let idempotency = Idempotency(database: database, keys: keys, now: { now })
      _ = try await idempotency.once(call) { _ in try .json(["plans": "plans"], status: .created) }
    }
  }
}
