import Database
import Foundation
import Support
import Testing

/// On a database with 100,000 accounts, a million tasks and a million ledger postings, no statement reads much more
/// than it returns. Every statement in the sources must have been executed.
@Suite struct PlanTests {
  @Test(.timeLimit(.minutes(20))) func noStatementReadsWhatItDoesNotNeed() async throws {
    var executed: Set<String> = []
    for engine in engines {
      let statements = try await executedStatements(on: engine)
      for (text, statement) in statements {
        let text = SourceStatements.singleLine(text)
        executed.insert(text)
        record(statement.worst, of: text, on: engine)
      }
      let plans = statements.map { (text: SourceStatements.singleLine($0), plan: $1.worst.plan) }
      for index in RequiredIndex.all {
        #expect(index.isUsed(in: plans), "\(engine.rawValue) does not use \(index.names) for \(index.required)")
      }
    }
    for exception in StatementException.scans + StatementException.readsMore {
      #expect(executed.contains(where: exception.applies), "no statement begins with: \(exception.prefix)")
    }
    try recordStatements(missingFrom: executed)
  }

  /// Records an issue when the statement reads too much.
  private func record(_ cost: PlanCost, of text: String, on engine: Engine) {
    let mayScan = StatementException.scans.contains { $0.applies(to: text) }
    let mayReadMore = StatementException.readsMore.contains { $0.applies(to: text) }
    guard cost.scans && !mayScan || cost.readsMore && !mayReadMore else { return }
    let scanned = cost.scannedTables.isEmpty ? "" : ", all of \(cost.scannedTables.joined(separator: ", "))"
    Issue.record(
      """
      \(engine.rawValue) reads \(cost.readCount) rows for \(cost.returnedCount)\(scanned):
      \(text)
      \(cost.plan)
      """)
  }

  private func recordStatements(missingFrom executed: Set<String>) throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let sources = try SourceStatements(root: root).all
    #expect(sources.count > 300)
    for statement in sources where !executed.contains(where: statement.matches) {
      guard !StatementException.notExecuted.contains(where: { $0.applies(to: statement.text) }) else { continue }
      Issue.record("never executed: \(statement.place): \(statement.text)")
    }
    for exception in StatementException.notExecuted {
      #expect(
        sources.contains { exception.applies(to: $0.text) }, "no statement begins with: \(exception.prefix)")
    }
  }

  private func executedStatements(on engine: Engine) async throws -> [String: ExplainedStatements.Observation] {
    let catalog = TableCatalog()
    let statements = ExplainedStatements(engine: engine, catalog: catalog)
    try await withTwilio { twilio in
      try await withMailServer(.none) { mail in
        try await withAppleServer { apple in
          try await withPaymentProviders { stripe, appStore, appStoreServer in
            let settings: [String: String] = [
              twilio.settings, mail.settings, apple.settings, stripe.settings, appStore.settings,
              appStoreServer.settings, BillingProducts.settings, Self.settings,
            ].reduce(into: [:]) { $0.merge($1) { $1 } }
            try await withStack(
              engine, settings, wrapDatabase: { ExplainedDatabase(inner: $0, statements: statements) },
              prepare: { testDatabase in
                for rows in Rows.all { try await rows.insert(into: testDatabase, catalog) }
              },
              { stack in
                await Calls(
                  stack: stack, twilio: twilio, mail: mail, apple: apple, stripe: stripe, appStore: appStore,
                  appStoreServer: appStoreServer, statements: statements
                ).all()
              })
          }
        }
      }
    }
    return statements.all
  }

  private func withPaymentProviders(_ body: (StripeServer, AppStore, AppStoreServer) async throws -> Void) async throws
  {
    try await withStripe { stripe in
      try await withAppStore { appStore in
        try await withAppStoreServer { server in try await body(stripe, appStore, server) }
      }
    }
  }

  private static let settings = [
    "ACCOUNT_ERASE_AFTER_DAYS": "0", "SMS_PER_ADDRESS_HOUR": "1000", "SMS_PER_PREFIX_HOUR": "1000",
    "EVENTS_URL": "http://127.0.0.1:1", "ANONYMOUS_SIGN_INS": "true", "AUTH_REDIRECTS": "myapp://signed-in",
    "PHOTO_EVENTS": "true",
    // While a key is being replaced there are more statements.
    "DATA_KEYS": "new:a newer data key 0123456789 abcdefghij,test:data key for tests 0123456789 abcdefghij",
  ]
}
