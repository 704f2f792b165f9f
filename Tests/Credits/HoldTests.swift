import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Credits

/// Holds on the ledger: what they reserve, and how they end.
@Suite struct HoldTests {
  @Test(arguments: engines) func whatIsHeldCannotBeSpentUntilItIsGivenBack(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(50)
      let hold = try await ledger.hold(30, of: alice)
      #expect((hold.balance, hold.held) == (50, 30))
      #expect(try await ledger.spend(21, of: alice) == .insufficient(balance: 50))
      await #expect(throws: Failure.insufficientCredits(cost: 21)) { _ = try await ledger.hold(21, of: alice) }
      try await ledger.spend(20, of: alice)
      #expect(try await ledger.balance(of: alice).available == 0)
      #expect(try await ledger.settle(hold, as: .release).balance == 30)
      #expect(try await ledger.balance(of: alice).available == 30)
      #expect(try await ledger.amounts(of: alice) == [50, -20])
    }
  }

  @Test(arguments: engines) func aPartIsCapturedAndTheRestIsGivenBack(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(50)
      let (whole, part) = (try await ledger.hold(10, of: alice), try await ledger.hold(30, of: alice))
      #expect(try await ledger.settle(whole, as: .capture(nil)).balance == 40)
      let captured = try await ledger.settle(part, as: .capture(12))
      #expect((captured.state, captured.balance, captured.isRepeated) == (.captured, 28, false))
      let balance = try await ledger.balance(of: alice)
      #expect((balance.current, balance.held, balance.lifetimeSpent) == (28, 0, 22))
      #expect(try await ledger.amounts(of: alice) == [50, -10, -12])
      try await ledger.spend(1, of: alice)
      #expect(try await ledger.settle(part, as: .capture(12)).balance == 28)
      #expect(try await ledger.settle(part, as: .capture(12)).isRepeated)
      #expect(try await ledger.settle(whole, as: .capture(10)).isRepeated)
    }
  }

  @Test(arguments: engines) func aHoldEndsInOneWayOnly(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(50)
      let captured = try await ledger.hold(10, of: alice)
      let released = try await ledger.hold(10, of: alice)
      await #expect(throws: Failure.self) { try await ledger.settle(captured, as: .capture(11)) }
      try await ledger.settle(captured, as: .capture(9))
      try await ledger.settle(released, as: .release)
      #expect(try await ledger.settle(released, as: .release).isRepeated)
      for other in [HoldSettlement.release, .capture(8), .capture(10), .capture(nil)] {
        await #expect(throws: Failure.holdSettled(.captured)) { try await ledger.settle(captured, as: other) }
      }
      await #expect(throws: Failure.holdSettled(.released)) { try await ledger.settle(released, as: .capture(nil)) }
      let nobodys = OpenedHold(id: .new(at: Date()), cost: 1, expiresAt: Date(), balance: 0, held: 0)
      await #expect(throws: Failure.holdNotFound) { try await ledger.settle(nobodys, as: .release) }
      #expect(try await ledger.balance(of: alice).current == 41)
    }
  }

  @Test(arguments: engines) func anExpiredHoldIsOverThoughNobodyHasGivenItBack(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(50)
      let (late, other) = (try await ledger.hold(40, of: alice, for: 60), try await ledger.hold(5, of: alice))
      ledger.clock.advance(by: .seconds(60))
      for settlement in [HoldSettlement.capture(nil), .release] {
        await #expect(throws: Failure.holdExpired) { try await ledger.settle(late, as: settlement) }
      }
      try await ledger.expire()
      let balance = try await ledger.balance(of: alice)
      #expect((balance.current, balance.held) == (50, 5))
      await #expect(throws: Failure.holdExpired) { try await ledger.settle(late, as: .capture(nil)) }
      try await ledger.settle(other, as: .capture(nil))
      #expect(try await ledger.amounts(of: alice) == [50, -5])
    }
  }

  /// Times are stored in milliseconds: what is left of less than half of one is rounded away.
  @Test(arguments: engines) func aCaptureInTheLastFractionOfAMillisecondIsTooLate(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(50)
      let hold = try await ledger.hold(10, of: alice, for: 60)
      let end = Date(timeIntervalSince1970: (hold.expiresAt.timeIntervalSince1970 * 1000).rounded() / 1000)
      for settlement in [HoldSettlement.capture(nil), .capture(4), .capture(10), .release] {
        await #expect(throws: Failure.holdExpired) {
          try await ledger.database.write { db in
            _ = try HoldStore.settle(hold.id, as: settlement, at: end - 0.0003, on: db)
          }
        }
      }
    }
  }

  /// A hold reserves the credits that expire first, which do not expire as long as it is open.
  @Test(arguments: engines) func whatAHoldReservesDoesNotExpireUnderIt(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(50)
      try await ledger.grant(20, to: alice, expiringAfter: 1000)
      try await ledger.grant(10, to: alice, expiringAfter: 2000)
      let hold = try await ledger.hold(25, of: alice, for: 5000)
      ledger.clock.advance(by: .seconds(3000))
      try await ledger.expire()
      // Of the second five were not reserved.
      let balance = try await ledger.balance(of: alice)
      #expect((balance.current, balance.held) == (75, 25))
      try await ledger.spend(1, of: alice)
      try await ledger.settle(hold, as: .capture(22))
      // Two were captured of the second; the three that were given back have expired.
      try await ledger.expire()
      #expect(try await ledger.amounts(of: alice) == [50, 20, 10, -5, -1, -22, -3])
      #expect(try await ledger.lots(of: alice) == [49])
    }
  }

  @Test(arguments: engines) func aKeyMakesOneHold(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(50)
      let first = try await ledger.hold(30, of: alice, key: "one")
      try await ledger.settle(first, as: .capture(nil))
      let second = try await ledger.hold(30, of: alice, key: "one")
      #expect(second.isRepeated && second.id == first.id && (second.balance, second.held) == (50, 30))
      await #expect(throws: Failure.idempotencyKeyReused) { _ = try await ledger.hold(29, of: alice, key: "one") }
      await #expect(throws: Failure.idempotencyKeyReused) {
        _ = try await ledger.hold(30, of: alice, for: 601, key: "one")
      }
      #expect(try await ledger.amounts(of: alice) == [50, -30])
    }
  }
}
