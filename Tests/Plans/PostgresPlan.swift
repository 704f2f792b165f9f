import Foundation
import Support

/// A plan of PostgreSQL with the rows that its nodes have read.
struct PostgresPlan {
  let cost: PlanCost

  /// - Parameter json: the result of `explain (analyze, format json)`.
  init(json: String) throws {
    let root = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]]
    guard let plan = root?.first?["Plan"] as? [String: Any] else { throw Unexpected(reply: json) }
    var cost = PlanCost()
    Self.add(plan, to: &cost, depth: 0)
    cost.returnedCount = Self.returned(plan)
    self.cost = cost
  }

  /// The rows of a statement that changes rows are those that it changes.
  private static func returned(_ node: [String: Any]) -> Int {
    guard node["Node Type"] as? String == "ModifyTable", let input = children(node).first else { return rows(node) }
    return max(rows(node), rows(input))
  }

  private static func add(_ node: [String: Any], to cost: inout PlanCost, depth: Int) {
    let type = node["Node Type"] as? String ?? ""
    var line = String(repeating: "  ", count: depth) + type
    if let table = node["Relation Name"] as? String, type.hasSuffix("Scan") {
      let read = rows(node) + count(node, "Rows Removed by Filter") + count(node, "Rows Removed by Index Recheck")
      cost.readCount += read
      if type == "Seq Scan", read > PlanCost.scannedMax { cost.scannedTables.append(table) }
      line += " \(table) \(node["Index Name"] as? String ?? ""): read \(read)"
      line += (node["Index Cond"] as? String).map { " by \($0)" } ?? ""
    } else if type == "Bitmap Index Scan" {
      line += " \(node["Index Name"] as? String ?? "")"
    }
    cost.plan += line + ": \(rows(node)) rows\n"
    for child in children(node) { add(child, to: &cost, depth: depth + 1) }
  }

  private static func children(_ node: [String: Any]) -> [[String: Any]] { node["Plans"] as? [[String: Any]] ?? [] }

  private static func rows(_ node: [String: Any]) -> Int { count(node, "Actual Rows") }

  /// A count in all loops; the plan has the average of one.
  private static func count(_ node: [String: Any], _ name: String) -> Int {
    let loops = (node["Actual Loops"] as? NSNumber)?.doubleValue ?? 1
    return Int((((node[name] as? NSNumber)?.doubleValue ?? 0) * loops).rounded())
  }
}
