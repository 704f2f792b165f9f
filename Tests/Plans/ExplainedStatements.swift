import Database
import Synchronization

/// The statements of one service that have been executed, with the most expensive plan of each.
final class ExplainedStatements: Sendable {
  struct Observation: Sendable {
    var planCount = 0
    var worst = PlanCost()
  }

  let engine: Engine
  let catalog: TableCatalog
  private let observations = Mutex<[String: Observation]>([:])

  /// Bindings change plans; more executions than these show nothing new.
  private static let plansMax = 8

  init(engine: Engine, catalog: TableCatalog) {
    self.engine = engine
    self.catalog = catalog
  }

  var all: [String: Observation] { observations.withLock { $0 } }

  /// Also notes that the statement is executed.
  func needsPlan(of text: String) -> Bool {
    observations.withLock { $0[text, default: Observation()].planCount < Self.plansMax }
  }

  /// - Parameter cost: nil when the statement failed.
  func add(_ cost: PlanCost?, of text: String) {
    observations.withLock { all in
      var observation = all[text] ?? Observation()
      defer { all[text] = observation }
      guard let cost else { return }
      observation.planCount += 1
      if observation.worst.plan.isEmpty || cost.isWorse(than: observation.worst) { observation.worst = cost }
    }
  }
}

extension PlanCost {
  private var readPerReturned: Double { Double(readCount) / Double(max(1, returnedCount)) }

  fileprivate func isWorse(than other: PlanCost) -> Bool {
    if scannedTables.isEmpty != other.scannedTables.isEmpty { return other.scannedTables.isEmpty }
    return readPerReturned > other.readPerReturned
  }
}
