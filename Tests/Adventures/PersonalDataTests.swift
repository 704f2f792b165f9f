import Database
import Support
import Testing

@testable import Adventures

@Suite struct PersonalDataTests {
  @Test(arguments: engines) func onlyAuthMayEraseAndExport(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let path = "/internal/users/\(alice.id)/data"
      #expect(try await stack.adventures.get(path).status == 403)
      #expect(try await stack.adventures.with(stack.with(key: "lists")).delete(path).status == 403)
      #expect(try await stack.adventures.with(stack.with(key: "auth")).get(path).status == 200)
      #expect(try await stack.adventures.with(stack.with(key: "auth")).delete(path).status == 204)
    }
  }
}
