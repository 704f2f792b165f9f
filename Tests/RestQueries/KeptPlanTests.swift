import RestQueries
import Support
import Testing

/// What requests for one row execute is planned once.
@Suite struct KeptPlanTests {
  @Test(.enabled(if: postgresURL != nil)) func statementsKeepTheirPlans() async throws {
    try await PlacesApp.with(.postgres, connections: 1) { app in
      for number in 1...10 {
        let made = try await app.post("places", #"{"name":"bar \#(number)"}"#)
        let id = "id=eq.\(made.changedKeys[0])"
        #expect(try await app.patch("places", id, #"{"name":"inn"}"#).text.contains("inn"))
        #expect(try await app.get("places", id).contains("inn"))
        #expect(try await app.delete("places", id).changedKeys == made.changedKeys)
      }
      let plannedEachTime = try await app.database.statementsPlannedEachTime()
      #expect(plannedEachTime == [])
    }
  }
}
