import Database
import Foundation
import Support
import Testing
import Wire

@testable import Credits

/// Compares the histories of all users with the answers that callers got.
struct LedgerComparison {
  private let log: SoakLog
  private let testDatabase: TestDatabase

  init(_ log: SoakLog, _ testDatabase: TestDatabase) { (self.log, self.testDatabase) = (log, testDatabase) }

  /// Records an issue for each difference. Returns how many operations the callers have posted.
  func postingCount() async throws -> Int {
    let database = try await testDatabase.open("credits", [])
    let rows = try await postings(in: database)
    let debtors = try await database.read { db in
      try db.rows(
        """
        select id from ledger_account a where debt > 0 and not exists (
          select 1 from ledger_posting p join ledger_operation o on o.id = p.operation_id
          where p.account_id = a.id and o.type = 'refund')
        """)
    }
    await database.close()
    #expect(debtors.isEmpty)
    #expect(log.faults.isEmpty, "\(log.faults.prefix(5))")
    let faults = try Self.differences(log.entries, Dictionary(grouping: rows) { try $0.get("description") })
    #expect(faults.isEmpty, "\(faults.count): \(faults.prefix(5))")
    // The premise: all kinds of outcomes were there.
    let outcomes = log.entries.values.map(\.outcome)
    #expect(outcomes.contains(.refused) && rows.count > log.answered / 4)
    #expect(outcomes.count == log.answered)
    return rows.count
  }

  /// The postings of the callers' operations, a page at a time.
  private func postings(in database: any Database) async throws -> [Row] {
    var all: [Row] = []
    var last = OperationID.first(at: .distantPast)
    while true {
      let after = last
      let page = try await database.read { db in
        try db.rows(
          """
          select o.id, o.description, p.account_id, p.amount
          from (select id, description from ledger_operation where id > \(after) order by id limit 20000) o
          join ledger_posting p on p.operation_id = o.id and p.position is not null order by o.id
          """)
      }
      guard let end = page.last else { return all }
      last = try end.get("id")
      all += try page.filter { try $0.optional("description", as: String.self)?.hasPrefix("soak-") == true }
    }
  }

  private static func differences(
    _ entries: [String: SoakLog.Entry], _ posted: [String: [Row]]
  ) throws -> [String] {
    var faults = posted.filter { $0.value.count > 1 || entries[$0.key] == nil }.map { "twice, or by nobody: \($0)" }
    for (label, entry) in entries {
      let row = posted[label]?.first
      let amount = try row?.get("amount", as: Int.self)
      let transaction = try row?.get("id", as: String.self)
      let isRight =
        switch entry.outcome {
        case .posted(let expected, let id): amount == expected && (id == nil || transaction == id)
        case .refused: row == nil
        case .unknown(let amounts): amount.map(amounts.contains) ?? true
        }
      let isOfUser = try row.map { try $0.get("account_id") == entry.user.description } ?? true
      guard !isRight || !isOfUser else { continue }
      faults.append("\(label) \(entry.outcome), posted \(amount.map(String.init) ?? "not")")
    }
    return faults
  }
}
