import Database

/// A plan of SQLite, which says which tables are scanned but not how many rows are read.
struct SQLitePlan {
  private let steps: [String]

  init(_ rows: [Row]) throws { steps = try rows.map { try $0.get("detail") } }

  func cost(of statement: String, _ catalog: TableCatalog) -> PlanCost {
    let scanned = steps.filter { $0.hasPrefix("SCAN ") }.filter { step in
      let words = step.split(separator: " ").map(String.init)
      if let index = words.firstIndex(of: "INDEX"), words.count > index + 1 {
        // A partial index may have the few rows that are work.
        if catalog.isPartial(words[index + 1]) { return catalog.isLarge(words[index + 1]) }
      }
      return catalog.isLarge(Self.table(named: words[1], in: statement))
    }
    return PlanCost(scannedTables: scanned, plan: steps.joined(separator: "\n"))
  }

  /// The table with this name or alias; a common table expression or subquery is returned as it is.
  private static func table(named name: String, in statement: String) -> String {
    let words = statement.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
    for (index, word) in words.enumerated() where index > 1 && word == name {
      let isAlias = ["from", "join", "update"].contains(words[index - 2])
      if isAlias { return words[index - 1] }
      if words[index - 1] == "as", index > 2 { return words[index - 2] }
    }
    return name
  }
}
