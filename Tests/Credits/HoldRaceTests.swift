import Database
import Foundation
import Support
import Testing
import Wire

@testable import Credits

/// Many callers at one hold, or at the last credits, at once.
@Suite struct HoldRaceTests {
  @Test(arguments: engines) func fiftyCapturesAreOnePosting(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(50)
      let hold = try await ledger.hold(30, of: alice)
      let settled = try await atOnce(50) { _ in try await ledger.settle(hold, as: .capture(20)) }
      #expect(settled.allSatisfy { $0.state == .captured && $0.balance == 30 })
      #expect(settled.count { !$0.isRepeated } == 1)
      #expect(try await ledger.amounts(of: alice) == [50, -20])
    }
  }

  @Test(arguments: engines) func ofCaptureReleaseAndExpiryOneWins(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(1000)
      var ends: [HoldState] = []
      for round in 0..<12 {
        ends.append(try await endOfRace(ledger, try await ledger.hold(10, of: alice, for: 5), round))
      }
      let capturedCount = ends.count { $0 == .captured }
      let balance = try await ledger.balance(of: alice)
      #expect((balance.current, balance.held) == (1000 - 10 * capturedCount, 0))
      #expect(try await ledger.amounts(of: alice).count == 1 + capturedCount)
    }
  }

  /// Fifty callers settle a hold at once; in every third round the clock passes its end meanwhile. Returns how it has
  /// ended.
  private func endOfRace(_ ledger: LedgerFixture, _ hold: OpenedHold, _ round: Int) async throws -> HoldState {
    let states = try await atOnce(50) { index in
      if round % 3 == 0, index == 20 { ledger.clock.advance(by: .seconds(6)) }
      return try await state(ledger, hold, after: [.capture(nil), .release, .expire][index % 3])
    }
    ledger.clock.advance(by: .seconds(6))
    try await ledger.expire()
    let row = try await ledger.database.read { db in
      try db.row("select state from credit_hold where id = \(hold.id)")
    }
    let end: HoldState = try #require(row).enumValue("state")
    #expect(end != .open)
    #expect(states.allSatisfy { $0 == nil || $0 == end })
    return end
  }

  /// nil when the hold was ended in another way.
  private func state(
    _ ledger: LedgerFixture, _ hold: OpenedHold, after settlement: HoldSettlement
  ) async throws -> HoldState? {
    do { return try await ledger.settle(hold, as: settlement).state } catch is Failure { return nil }
  }

  @Test(arguments: engines) func fiftyHoldsForTheLastCreditsAreAsManyAsThereAreCredits(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(35)
      let holds = try await atOnce(50) { _ -> OpenedHold? in
        do { return try await ledger.hold(5, of: alice) } catch let failure as Failure {
          #expect(failure == .insufficientCredits(cost: 5))
          return nil
        }
      }
      #expect(holds.compactMap { $0 }.count == 7)
      let balance = try await ledger.balance(of: alice)
      #expect((balance.current, balance.held, balance.available) == (35, 35, 0))
    }
  }

  @Test(arguments: engines) func spendsAndHoldsShareTheLastCredits(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(30)
      let taken = try await atOnce(50) { index -> Bool in
        if index % 2 == 0 {
          if case .posted = try await ledger.spend(1, of: alice) { return true }
          return false
        }
        do { return try await ledger.hold(1, of: alice).cost == 1 } catch is Failure { return false }
      }
      #expect(taken.count { $0 } == 30)
      #expect(try await ledger.balance(of: alice).available == 0)
    }
  }

  @Test(arguments: engines) func manyHoldsOfOneLotAreSettledAtOnce(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user()
      for _ in 0..<3 { try await ledger.grant(50, to: alice, expiringAfter: 1000) }
      let holds = try await atOnce(50) { _ in try await ledger.hold(3, of: alice, for: 600) }
      _ = try await atOnce(50) { index in
        try await ledger.settle(holds[index], as: index % 2 == 0 ? .capture(2) : .release)
      }
      let balance = try await ledger.balance(of: alice)
      #expect((balance.current, balance.held) == (100, 0))
      #expect(try await ledger.lots(of: alice).reduce(0, +) == 100)
    }
  }
}
