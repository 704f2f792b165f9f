import Clients
import Database
import Foundation
import Logging
import Outbox
import ServiceLifecycle
import Web
import Wire

/// Holds credits before work begins, captures them when it is done, and gives them back when it is not. What is to
/// happen is stored first, so that after a crash it still happens, once.
struct Charges: Service {
  private let database: any Database
  private let credits: CreditsClient
  private let now: @Sendable () -> Date
  private let logger: Logger
  private let settlement: Saga

  /// How long a request may take to ask for a hold. Then the hold is released, if there is one.
  private static let openingSeconds = 60.0
  /// After a decision the request settles it itself; if it does not, a worker does after this time.
  private static let settlingSeconds = 10.0

  init(database: any Database, in dependencies: Dependencies) {
    let credits = CreditsClient(in: dependencies)
    let (now, logger) = (dependencies.now, dependencies.logger)
    self.database = database
    self.credits = credits
    self.now = now
    self.logger = logger
    settlement = Saga("charges", ChargeStore.leases, database: database, in: dependencies) { row in
      try await ChargeSettlement(row, credits, logger: logger, at: now()).run()
    }
  }

  func run() async throws { try await settlement.run() }

  /// Reserves the price of an operation. The caller records it with ``ChargeStore/hold(_:_:due:on:)``.
  ///
  /// - Throws: 402 when there is too little; then nothing is held.
  func open(_ charge: Charge) async throws -> OpenedCreditHold {
    let now = now()
    try await database.write { db in
      try ChargeStore.open(charge, at: now, due: now + Self.openingSeconds, on: db)
    }
    do { return try await credits.hold(charge.hold) } catch let failure as Failure where !failure.isServerFault {
      try await database.write { db in try ChargeStore.delete(charge.id, on: db) }
      throw failure
    }
  }

  /// Captures what is held. Safe to repeat.
  ///
  /// - Returns: false when the credits were given back, so that the work must not be handed over.
  /// - Throws: while credits cannot be reached; a worker repeats it.
  func capture(_ id: ChargeID) async throws -> Bool {
    let due = now() + Self.settlingSeconds
    let hold = try await database.write { db in
      try ChargeStore.decide(id, .earned, due: due, on: db) ? try ChargeStore.hold(of: id, on: db) : nil
    }
    guard let hold else { return false }
    let isCaptured = try await credits.captured(hold.id, logger)
    let now = now()
    try await database.write { db in
      try ChargeStore.settled(id, isCaptured ? .captured : .released, at: now, on: db)
    }
    return isCaptured
  }

  /// Gives back what is held. Safe to repeat. When credits cannot be reached, a worker repeats it.
  func release(_ id: ChargeID) async throws {
    let due = now() + Self.settlingSeconds
    let hold = try await database.write { db in
      try ChargeStore.decide(id, .void, due: due, on: db) ? try ChargeStore.hold(of: id, on: db) : nil
    }
    guard let hold else { return }
    do { try await credits.giveBack(hold.id) } catch let failure as Failure where failure.isServerFault { return }
    let now = now()
    try await database.write { db in try ChargeStore.settled(id, .released, at: now, on: db) }
  }
}

/// Settles a charge that no request has settled.
private struct ChargeSettlement {
  let row: SagaRow
  let credits: CreditsClient
  let logger: Logger
  let now: Date

  init(_ row: SagaRow, _ credits: CreditsClient, logger: Logger, at now: Date) {
    (self.row, self.credits, self.logger, self.now) = (row, credits, logger, now)
  }

  func run() async throws {
    guard let id = ChargeID(row.key) else { return }
    switch try row.row.enumValue("state") as Charge.State {
    case .opening: try await openAndRelease(id)
    case .held: try await release(id, try row.row.get("hold_id"))
    case .void: try await release(id, try row.row.get("hold_id"))
    case .earned:
      let isCaptured = try await credits.captured(try row.row.get("hold_id"), logger)
      try await row.step(last: true) { [now] db in
        try ChargeStore.settled(id, isCaptured ? .captured : .released, at: now, on: db)
      }
    case .captured, .released: try await row.step(last: true) { _ in }
    }
  }

  /// Whether a hold was made is not known: the same request makes it, or finds it.
  private func openAndRelease(_ id: ChargeID) async throws {
    let charge = Charge(
      id: id, user: try row.row.get("user_id"), operation: try row.row.get("operation"),
      reference: try row.row.get("reference_id"), lifetimeSeconds: try row.row.get("lifetime_seconds"))
    do {
      let hold = try await credits.hold(charge.hold)
      try await row.step { db in
        try db.change(
          "update charge set state = 'void', hold_id = \(hold.id), cost = \(hold.cost) where id = \(id)")
      }
      try await release(id, hold.id)
    } catch let failure as Failure where !failure.isServerFault {
      try await row.step(last: true) { db in try ChargeStore.delete(id, on: db) }
    }
  }

  private func release(_ id: ChargeID, _ hold: CreditHoldID) async throws {
    try await row.step { db in try db.change("update charge set state = 'void' where id = \(id) and state = 'held'") }
    try await credits.giveBack(hold)
    try await row.step(last: true) { [now] db in try ChargeStore.settled(id, .released, at: now, on: db) }
  }
}

extension Charge {
  fileprivate var hold: OpenCreditHold {
    OpenCreditHold(
      userID: user, operation: operation, referenceID: reference.description, referenceType: "timepoint",
      idempotencyKey: id.description, expiresIn: lifetimeSeconds)
  }
}

extension CreditsClient {
  /// Whether the hold is captured now.
  ///
  /// - Throws: while credits cannot be reached.
  fileprivate func captured(_ hold: CreditHoldID, _ logger: Logger) async throws -> Bool {
    do {
      try await capture(hold)
      return true
    } catch let failure as Failure where !failure.isServerFault {
      logger.error("a hold was not captured", metadata: ["hold": "\(hold)", "code": "\(failure.code)"])
      return false
    }
  }

  /// A hold that has ended in another way is given back already.
  fileprivate func giveBack(_ hold: CreditHoldID) async throws {
    do { try await release(hold) } catch let failure as Failure where !failure.isServerFault {}
  }
}

/// Deletes charges a day after they were settled.
struct ChargeSweep: PeriodicSweep {
  let database: any Database
  let logger: Logger
  let now: @Sendable () -> Date
  let interval = Duration.seconds(3600)
  let failureMessage: Logger.Message = "charges not swept"

  func deleteBatch(limit: Int) async throws -> Int {
    let date = now() - 86_400
    return try await database.write { db in try ChargeStore.sweep(before: date, limit: limit, on: db) }
  }
}
