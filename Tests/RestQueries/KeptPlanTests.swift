import RestQueries
import Support
import Testing

/// PostgreSQL keeps the plans of what requests for one row execute.
@Suite struct KeptPlanTests {
  @Test(.enabled(if: engines.contains(.postgres))) func statementsKeepTheirPlans() async throws {
    try await PlacesApp.with(.postgres, connections: 1) { app in
      for number in 1...12 {
        let made = try await app.post("places", #"{"name":"bar \#(number)"}"#)
        let key = made.changedKeys[0]
        let id = "id=eq.\(key)"
        #expect(try await app.patch("places", id, #"{"name":"inn"}"#).text.contains("inn"))
        let merged = try await app.post(
          "places", #"{"id":"\#(key)","name":"den"}"#, prefer: "resolution=merge-duplicates,return=representation")
        #expect(merged.text.contains("den"))
        #expect(try await app.get("places", id).contains("den"))
        #expect(try await app.delete("places", id, prefer: "return=representation").text.contains("den"))
      }
      let statements = try await app.database.plannedStatements()
      #expect(statements.filter(\.isPlannedEachTime).map(\.text) == [])
      let kept = statements.filter { $0.keepsPlan && $0.text.contains("where t0.id = $1") }
      #expect(kept.count >= 2, "\(statements.map(\.text))")
    }
  }
}
