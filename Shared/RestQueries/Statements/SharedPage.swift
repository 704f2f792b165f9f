import Database

/// How a read of the caller's own rows shares a round trip with other reads (``Database/rows(of:)``), which may have to
/// wait for it: up to a number of rows, and up to the row by which they become too large together.
///
/// That row is without its texts, and its last column is 1; that of the others is 0.
struct SharedPage: Sendable {
  /// What is before and after the condition, the order and the limit of the page.
  let beginning: SQL
  let end: SQL

  static let rowsMax = 100
  static let bytesMax = 64 * 1024
  /// How many values a shared read may compare with. Each is compared with that of every row of the caller.
  static let comparisonsMax = 8

  /// The page of whole rows named `t0`.
  ///
  /// - Returns: nil where a column depends on the caller.
  init?(_ columns: [Column], from source: SQL) {
    guard columns.allSatisfy({ $0.computed == nil }) else { return nil }
    let names = columns.indices.map { SQL(stringLiteral: "c\($0)") }
    let stored = columns.map { SQL(stringLiteral: "t0.\($0.stored)") }
    let max = SQL(stringLiteral: String(Self.bytesMax))
    let shown = zip(names, columns).map { name, column -> SQL in
      column.type.isLong ? "case when sized.bytes <= \(max) then sized.\(name) end as \(name)" : "sized.\(name)"
    }
    let sizes = zip(stored, columns).filter(\.1.type.isLong).map { "coalesce(octet_length((\($0.0))::text), 0)" as SQL }
    let selected = zip(stored, names).map { "\($0) as \($1)" as SQL }
    beginning = """
      select \(SQL.joined(shown, by: ", ")), case when sized.bytes > \(max) then 1 else 0 end as is_over from (\
      select page.*, sum(page.size) over (rows unbounded preceding) as bytes from (\
      select \(SQL.joined(selected, by: ", ")), \(sizes.isEmpty ? "0" : SQL.joined(sizes, by: " + ")) as size \
      from \(source) t0
      """
    end = ") page) sized where sized.bytes - sized.size <= \(max)"
  }
}

extension ColumnType {
  /// Whether only the bound of a body bounds the length of its values.
  fileprivate var isLong: Bool { self == .text || isJSON }
}

extension StatementWriter {
  func select(_ resource: Resource, as page: SharedPage) throws -> SQL {
    var few = resource
    few.limit = min(resource.limit ?? QueryBounds.rowsMax, SharedPage.rowsMax + 1)
    return "\(page.beginning) where \(try condition(of: few))\(try paging(of: few))\(page.end)"
  }
}

extension RestOperation {
  /// The answer to a read that shares a round trip; nil for other reads, and where there are too many rows for that or
  /// too large ones. SQLite has no round trips.
  func sharedAnswer(for caller: Caller, in database: any Database) async throws -> RestAnswer? {
    guard database.engine == .postgres, isShareable, let page = table.sharedPage else { return nil }
    do {
      let writer = StatementWriter(engine: database.engine, caller: caller)
      let statement = try writer.select(resource, as: page).composedForRequest
      let rows = try await database.rows(of: [statement]).first ?? []
      guard rows.count <= SharedPage.rowsMax, rows.last?.isOver != true else { return nil }
      return try answer(to: rows, total: nil)
    } catch let failure as DatabaseFailure {
      throw RestFailure(failure, table: table.name) ?? failure as any Error
    }
  }

  /// Whether it asks for whole rows of the caller's own, and for nothing that takes long.
  private var isShareable: Bool {
    request.method == .get && preferences.count == nil && table.access.isOfOwners && resource.isWhole
      && resource.conditions.allSatisfy { $0.isBrief(in: table) }
      && resource.conditions.reduce(0) { $0 + $1.comparisonCount } <= SharedPage.comparisonsMax
      && resource.orders.allSatisfy { $0.relation == nil && $0.field.isBrief(in: table) }
  }
}

extension Condition {
  /// Whether it compares values of bounded length, or whole texts.
  fileprivate func isBrief(in table: Table) -> Bool {
    switch self {
    case .not(let inner): inner.isBrief(in: table)
    case .and(let parts), .or(let parts): parts.allSatisfy { $0.isBrief(in: table) }
    case .filter(let filter): filter.field.isBrief(in: table) && filter.test.isBrief
    }
  }

  fileprivate var comparisonCount: Int {
    switch self {
    case .not(let inner): inner.comparisonCount
    case .and(let parts), .or(let parts): parts.reduce(0) { $0 + $1.comparisonCount }
    case .filter(let filter): if case .isIn(let values) = filter.test { values.count } else { 1 }
    }
  }
}

extension Field {
  fileprivate func isBrief(in table: Table) -> Bool {
    path.isEmpty && table.column(column).map { !$0.type.isJSON } ?? false
  }
}

extension Test {
  fileprivate var isBrief: Bool {
    switch self {
    case .isWord, .isIn: true
    case .compare(let comparison, _): ![.like, .ilike, .match, .imatch].contains(comparison)
    default: false
    }
  }
}
