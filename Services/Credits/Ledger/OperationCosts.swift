import Web
import Wire

/// The prices in credits of the apps' operations: `OPERATION_COSTS`, or those that the apps know.
struct OperationCosts: Sendable {
  let credits: [String: Int]

  private static let standard = [
    "generate_balanced": 5, "generate_hd": 10, "generate_hyper": 5, "generate_gemini3": 5, "chat": 1,
    "temporal_jump": 2,
  ]

  /// - Throws: ``StartFailure`` that names the entry which is not `operation=credits`.
  init(_ settings: Settings) throws {
    let entries = settings.list("OPERATION_COSTS")
    var credits: [String: Int] = [:]
    for entry in entries {
      let parts = entry.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, Self.isName(parts[0]), let cost = Int(parts[1]),
        (1...CreditOperation.amountMax).contains(cost)
      else {
        throw StartFailure(
          "OPERATION_COSTS: \"\(entry)\" is not name=credits, with a name of lower-case letters, digits and _ and with "
            + "1 to \(CreditOperation.amountMax) credits")
      }
      guard credits.updateValue(cost, forKey: parts[0]) == nil else {
        throw StartFailure("OPERATION_COSTS has \"\(parts[0])\" twice")
      }
    }
    self.credits = credits.isEmpty ? Self.standard : credits
  }

  /// - Throws: 422 for an operation that has no price.
  func cost(of operation: String) throws(Failure) -> Int {
    guard let cost = credits[operation] else {
      throw .invalid(.init("operation", "must be one of \(credits.keys.sorted().joined(separator: ", "))"))
    }
    return cost
  }

  private static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_") }
  }
}

extension OperationType {
  /// The type of an operation with a price, by its name.
  static func priced(_ operation: String) -> OperationType {
    if operation.hasPrefix("chat") { return .chat }
    return operation.hasPrefix("temporal") ? .temporal : .generation
  }
}
