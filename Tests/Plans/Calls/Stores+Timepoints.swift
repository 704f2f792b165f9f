import Support

@testable import Timepoints

extension Calls {
  /// What a request counts of the providers, and what it asks when a day has a budget.
  func timepointStoreCalls() async throws {
    try await withDatabase(of: "timepoints") { database in
      let usage = ProviderUsageStore(database: database)
      for day in ["2026-11-21", "2026-11-22", "2026-11-22"] { try await usage.add(calls: 11, tokens: 9000, on: day) }
      let tokens = try await usage.tokens(on: "2026-11-22")
      guard tokens == 18_000 else { throw Unexpected(reply: "\(tokens)") }
    }
  }
}
