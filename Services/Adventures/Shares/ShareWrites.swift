import Clients
import Database
import Foundation
import Outbox
import RestQueries
import Web
import Wire

/// Shares of an arrival time. Who they reach is asked of other services before the transaction.
struct ShareWrites: Sendable {
  let users: UsersClient
  let groups: GroupsClient
  let outbox: Outbox
  /// Sent after each change: the next share to end may be another.
  let changes: ChangeSignal

  /// - Throws: 403 `not_proven`, and ``RestQueries/RestFailure`` 400 and 409 for recipients that are none.
  func checked(_ operation: RestOperation, for caller: RestQueries.Caller) async throws -> CheckedShareWrites {
    try operation.require("route_data", "must be an object", \.isObject)
    var recipients: Set<UserID> = []
    for row in operation.body?.rows ?? [] where row["recipients"] != nil {
      recipients.formUnion(try Self.recipients(row["recipients"] ?? .null))
    }
    guard recipients.count <= RelationsQuery.othersMax else {
      throw RestFailure.invalid("recipients", "of all rows are too many", in: operation.table.name)
    }
    guard !recipients.isEmpty else { return CheckedShareWrites(outbox: outbox, changes: changes) }
    let people = try await users.people(recipients.union([caller.id]))
    guard people[caller.id]?.isProven ?? false else { throw Failure.notProven }
    guard recipients.allSatisfy({ people[$0] != nil }) else { throw RestFailure.unknownRecipient }
    let others = recipients.subtracting([caller.id])
    let hidden = try await groups.relations(of: caller.id, to: others).blocked
    return CheckedShareWrites(others: others, hidden: hidden, outbox: outbox, changes: changes)
  }

  static let recipientsMax = 50

  private static func recipients(_ tree: JSONTree) throws -> [UserID] {
    guard case .array(let elements) = tree, (1...recipientsMax).contains(elements.count) else {
      throw RestFailure.invalid("recipients", "must have 1 to \(recipientsMax) ids", in: AdventureTables.shares.name)
    }
    return try elements.map { element in
      guard let id = element.string.flatMap({ UserID($0) }) else {
        throw RestFailure.invalid("recipients", "must be an array of ids", in: AdventureTables.shares.name)
      }
      return id
    }
  }
}

/// The rules of shares, with what other services have said.
struct CheckedShareWrites: TableWriting {
  /// The recipients without the owner.
  var others: Set<UserID> = []
  /// Recipients from whom a block hides the share.
  var hidden: Set<UserID> = []
  let outbox: Outbox
  let changes: ChangeSignal

  func write(
    _ operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer {
    let events = ShareEvents(engine: engine)
    // Shares whose time is over end before they are changed, and are told once.
    if !operation.isInsert { _ = try ExpiryJob.Kind.shares.end(caller.now, engine, db) }
    var operation = operation
    let keys = try operation.isInsert ? Self.named(in: operation) : operation.restrict(for: caller, on: db, engine)
    let before = try ShareStore.views(of: keys, at: caller.now, on: db)
    if operation.request.method == .delete {
      let answer = try operation.answer(for: caller, on: db, engine)
      for key in answer.changedKeys {
        try ShareStore.deleteRecipients(of: key, on: db)
        events.deleted(key, of: caller.id, before: before[key], at: caller.now, on: db)
      }
      return answer
    }
    let answer = try operation.answer(for: caller, on: db, engine)
    let members = operation.body?.columns ?? []
    if operation.isInsert || members.contains("expires_at") {
      try ShareStore.requireEnd(of: answer.changedKeys, at: caller.now, on: db)
    } else if members.contains("is_active") {
      try ShareStore.endWhatIsOver(among: answer.changedKeys, at: caller.now, on: db)
    }
    for key in answer.changedKeys {
      if operation.isInsert || members.contains("recipients") {
        try ShareStore.setRecipients(of: key, hidden: hidden, on: db)
      }
      try events.changed(key, for: caller, before: before[key], on: db)
    }
    let mayBeHidden = answer.changedKeys.isEmpty ? [] : others
    try ShareBlocks.checkLater(mayBeHidden, of: caller.id, outbox, at: caller.now, on: db)
    return answer
  }

  /// The shares that may be there already, and are changed then.
  private static func named(in operation: RestOperation) -> [String] {
    (operation.body?.rows ?? []).compactMap { row in row["id"]?.string.flatMap { ID<Share>($0) }?.description }
  }

  func written(_ answer: RestAnswer, for caller: RestQueries.Caller) async throws {
    changes.send()
    if !others.isEmpty { outbox.wakeUp() }
  }
}

extension RestFailure {
  static let unknownRecipient = RestFailure(
    409, "23503", "insert or update on table \"eta_shares\" violates foreign key constraint \"eta_shares_recipients\"",
    details: "A recipient is not present in table \"users\".")
  static let shareEnd = RestFailure.invalid(
    "expires_at", "must be in the future, and at most a week away", in: AdventureTables.shares.name)
}
