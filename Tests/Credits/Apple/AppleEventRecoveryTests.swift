import Database
import Foundation
import Support
import Testing
import Tokens
import Web
import Wire

@testable import Credits

/// What a process leaves behind that is killed after it has stored a notification, or while it works on it.
@Suite struct AppleEventRecoveryTests {
  private enum Crash: CaseIterable {
    case afterStoring, afterClaiming, afterApplying
  }

  @Test(arguments: engines, Crash.allCases)
  private func theNotificationIsAppliedOnce(engine: Engine, crash: Crash) async throws {
    try await withApplePurchases(engine) { stack, store in
      let (alice, now) = (try await stack.signIn("alice"), stack.clock.now)
      let pack = AppStore.transaction("1", product: TestProduct.pack, for: alice.id, from: now)
      if crash == .afterApplying { #expect(try await alice.verify(store.sign(pack)).status == 200) }
      let body = try JSON.encode(
        SignedPayloadBody(signedPayload: store.notification("ONE_TIME_CHARGE", about: pack, at: now)))
      let keys = try stack.dependencies.settings.dataKeys()
      let database = try await stack.testDatabase.open("credits", [])
      let events = BillingEventStore(database: database, keys: keys)
      // In one step, before the worker of this process sees it.
      let sealed = try keys.seal(body, purpose: "billing event apple u-1")
      let due = crash == .afterStoring ? now : now + 120
      try await database.write { db in
        try db.change(
          """
          insert into billing_event (id, provider, event_id, kind, sealed, status, received_at, due_at, lease, tries)
          values (\(BillingEventID.new(at: now)), 'apple', 'u-1', 'ONE_TIME_CHARGE', \(sealed), 'waiting', \(now),
            \(due), \(crash == .afterStoring ? nil : "a process that is gone"), \(crash == .afterStoring ? 0 : 1))
          """)
      }
      if crash != .afterStoring {
        // As long as its lease lasts, the other process might be alive.
        try await Task.sleep(for: .seconds(2))
        #expect(try await events.depths().map(\.status) == ["waiting"])
        stack.clock.advance(by: .seconds(121))
      }
      await database.close()
      try await stack.waitForBilling()
      #expect(try await stack.events("done").count == 1)
      #expect(try await alice.movements() == ["signup_bonus 50", "apple_iap 100"])
    }
  }
}
