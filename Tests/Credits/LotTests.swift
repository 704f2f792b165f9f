import Database
import Foundation
import Support
import Testing
import Wire

@testable import Credits

/// Lots: what is left of each grant, and when it expires.
@Suite struct LotTests {
  @Test(arguments: engines) func whatExpiresFirstIsSpentFirst(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user()
      try await ledger.grant(10, to: alice)
      try await ledger.grant(20, to: alice, expiringAfter: 2000)
      try await ledger.grant(30, to: alice, expiringAfter: 1000)
      try await ledger.grant(40, to: alice, expiringAfter: 2000)
      #expect(try await ledger.lots(of: alice) == [30, 20, 40, 10])
      try await ledger.spend(25, of: alice)
      #expect(try await ledger.lots(of: alice) == [5, 20, 40, 10])
      try await ledger.spend(26, of: alice)
      #expect(try await ledger.lots(of: alice) == [39, 10])
      try await ledger.spend(49, of: alice)
      #expect(try await ledger.lots(of: alice) == [])
      #expect(try await ledger.spend(1, of: alice) == .insufficient(balance: 0))
    }
  }

  @Test(arguments: engines) func expiredCreditsCannotBeSpentThoughNobodyHasBookedThem(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(5)
      try await ledger.grant(20, to: alice, expiringAfter: 1000)
      ledger.clock.advance(by: .seconds(900))
      try await ledger.spend(1, of: alice)
      ledger.clock.advance(by: .seconds(101))
      #expect(try await ledger.spend(6, of: alice) == .insufficient(balance: 5))
      #expect(try await ledger.balance(of: alice).current == 5)
      guard case .posted(_, balanceAfter: 0) = try await ledger.spend(5, of: alice) else {
        Issue.record("what has not expired was not spent")
        return
      }
      #expect(try await ledger.amounts(of: alice) == [5, 20, -1, -19, -5])
      let entries = try await ledger.store.history(of: alice, limit: 2)
      #expect(entries.map(\.type) == ["generation", "expiry"])
      #expect(entries.map(\.balanceAfter) == [0, 5])
    }
  }

  @Test(arguments: engines) func expiryIsBookedOnceByManyWorkers(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      var users: [UserID] = []
      for number in 1...5 {
        let user = try await ledger.user(100)
        for _ in 0..<3 { try await ledger.grant(number, to: user, expiringAfter: 1000) }
        try await ledger.grant(1, to: user, expiringAfter: 5000)
        users.append(user)
      }
      ledger.clock.advance(by: .seconds(1000))
      let all = users
      _ = try await atOnce(50) { index in
        if index % 2 == 0 { return try await ledger.expire() }
        try await ledger.spend(1, of: all[index % 5])
      }
      for (index, user) in users.enumerated() {
        let amounts = try await ledger.amounts(of: user)
        #expect(amounts.filter { $0 == -(index + 1) }.count == (index == 0 ? 8 : 3))
        let (balance, lots) = (try await ledger.balance(of: user).current, try await ledger.lots(of: user))
        #expect(balance == 101 - 5 && lots == [100 - 4], "\(amounts)")
      }
      ledger.clock.advance(by: .seconds(4000))
      try await ledger.expire()
      #expect(try await ledger.balance(of: users[1]).current == 96)
    }
  }

  @Test(arguments: engines) func moreLotsThanABatchExpireAtOnce(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(7)
      for _ in 0..<250 { try await ledger.grant(1, to: alice, expiringAfter: 1000) }
      ledger.clock.advance(by: .seconds(1000))
      #expect(try await ledger.spend(8, of: alice) == .insufficient(balance: 7))
      #expect(try await ledger.amounts(of: alice).filter { $0 == -1 }.count == 250)
      #expect(try await ledger.lots(of: alice) == [7])
    }
  }

  /// The index of the open lots is read in its order, and no further than the cost.
  @Test(arguments: engines) func aSpendReadsFewOfManyLots(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let (alice, now) = (try await ledger.user(), ledger.clock.now)
      try await ledger.database.write { db in
        for number in 1...3000 {
          var grant = CreditOperation(id: .new(at: now), user: alice, amount: 2, type: .adminGrant, at: now)
          if number % 3 == 0 { grant.expiresAt = now + Double(10_000 - number) }
          _ = try LedgerStore.post(grant, isChecked: true, on: db)
        }
        try db.change("analyze")
      }
      let plans = RecordedPlans()
      _ = try await ledger.database.write { db in
        let planned = PlannedConnection(db, engine, plans, mayScan: { _ in true })
        let spend = CreditOperation(id: .new(at: now), user: alice, amount: -3, type: .chat, at: now)
        return try LedgerStore.post(spend, isChecked: true, on: planned)
      }
      let taking = plans.all.first { $0.key.contains("candidate") }
      let plan = try #require(taking).value.joined(separator: "\n")
      #expect(plan.contains("credit_lot_open"), "\(plan)")
      #expect(!plan.contains(/Seq Scan on credit_lot|SCAN credit_lot|Sort Key: credit_lot/), "\(plan)")
      let lots = try await ledger.lots(of: alice)
      #expect(lots.count == 2999 && lots.first == 1)
    }
  }

  @Test(arguments: engines) func aBalanceFromBeforeThereWereLotsIsOneLot(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let (alice, bob, now) = (UserID.new(at: Date()), UserID.new(at: Date()), Date())
      let old = try await testDatabase.open("credits", Array(creditsMigrations.prefix(3)))
      try await old.write { db in
        try db.change(
          """
          insert into ledger_account (id, kind, balance, lifetime_earned, lifetime_spent, posting_count, opened_at)
          values (\(alice), 'user', 30, 50, 20, 2, \(now)), (\(bob), 'user', 0, 0, 0, 0, \(now))
          """)
        for (position, amount) in [(1, 50), (2, -20)] {
          let id = OperationID.new(at: now)
          try db.change("insert into ledger_operation (id, type, created_at) values (\(id), 'chat', \(now))")
          try db.change(
            """
            insert into ledger_posting (operation_id, account_id, amount, balance_after, position)
            values (\(id), \(alice), \(amount), \(position == 1 ? 50 : 30), \(position)),
              (\(id), 'system', \(-amount), null, null)
            """)
        }
      }
      await old.close()
      let ledger = try await LedgerFixture(testDatabase)
      #expect(try await ledger.lots(of: alice) == [30])
      #expect(try await ledger.lots(of: bob) == [])
      try await ledger.spend(11, of: alice)
      #expect(try await ledger.lots(of: alice) == [19])
      try await ledger.expectConsistency()
      await ledger.database.close()
    }
  }
}
