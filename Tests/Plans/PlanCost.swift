/// What a plan reads for what it returns.
struct PlanCost: Sendable {
  /// Rows read from tables and indexes, those removed by a filter included. SQLite does not count them: 0.
  var readCount = 0
  /// Rows returned or changed.
  var returnedCount = 0
  /// Tables of which all rows are read although they have more than ``scannedMax``.
  var scannedTables: [String] = []
  var plan = ""

  static let scannedMax = 10_000
  static let ratioMax = 100

  var scans: Bool { !scannedTables.isEmpty }
  var readsMore: Bool { readCount > Self.ratioMax * max(1, returnedCount) }
}
