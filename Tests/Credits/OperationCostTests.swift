import Support
import Testing
import Web
import Wire

@testable import Credits

/// The prices of operations come from the configuration.
@Suite struct OperationCostTests {
  private func costs(_ text: String) throws -> [String: Int] {
    try OperationCosts(Settings(["OPERATION_COSTS": text])).credits
  }

  @Test func thePricesOfTheAppsAreTheDefault() throws {
    let standard = try costs("")
    #expect(standard.count == 6 && standard["generate_hd"] == 10)
    #expect(try costs("generate_hd=12, chat=2") == ["generate_hd": 12, "chat": 2])
    let unset = try OperationCosts(Settings([:]))
    #expect(unset.credits == standard)
    #expect(throws: Failure.self) { try unset.cost(of: "paint") }
  }

  @Test(arguments: [
    "chat", "chat=", "chat=0", "chat=-1", "chat=1.5", "chat=1000000001", "=1", "Chat=1", "chat=1=2", "a b=1",
    "chat=99999999999999999999",
  ])
  func aMistakeStopsTheStartAndIsNamed(entry: String) {
    #expect {
      try costs("generate_hd=1,\(entry)")
    } throws: { "\($0)".hasPrefix("OPERATION_COSTS: \"\(entry)\" is not") }
  }

  @Test func noOperationHasTwoPrices() {
    #expect { try costs("chat=1,chat=2") } throws: { "\($0)" == "OPERATION_COSTS has \"chat\" twice" }
  }

  @Test func theConfiguredPricesAreShownAndHeld() async throws {
    try await withStack(.sqlite, ["OPERATION_COSTS": "paint=7"]) { stack in
      let shown = try await stack.gateway.get("/api/v1/credits/costs")["costs"] as? [String: Int]
      #expect(shown == ["paint": 7])
      let alice = try await stack.signIn("alice")
      let service = stack.credits.with(stack.with(key: "billing+credits"))
      let body: [String: any Sendable] = ["user_id": alice.id.description, "idempotency_key": "1"]
      let hold = try await service.post("/internal/credits/holds", body.merging(["operation": "paint"]) { $1 })
      #expect((hold.status, hold.int("cost")) == (201, 7))
      #expect(
        try await service.post("/internal/credits/holds", body.merging(["operation": "chat"]) { $1 }).status == 422)
    }
  }
}
