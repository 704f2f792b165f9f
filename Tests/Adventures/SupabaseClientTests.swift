import Database
import Foundation
import Support
import Testing

/// Supabase's Python client against the tables and files of adventures, and their channels, through the gateway.
@Suite(.enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: Supabase's client was not tried"))
struct SupabaseClientTests {
  @Test(arguments: engines) func everyCallOfTheClientIsAnswered(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let photo = stack.testDatabase.folder.appending(path: "photo.jpg")
      try SamplePhotos.jpeg.write(to: photo)
      let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      let printed = try await Python.run(
        Python.script("supabase_adventures"), arguments: [stack.gateway.base, end, photo.path])
      #expect(
        printed.split(separator: "\n").map(String.init) == [
          "adventure_plans", "saved_places", "scavenger_hunts, hunt_checkpoints",
          "hunt_participants, checkpoint_submissions, storage", "hunt_leaderboard", "eta_shares", "users", "functions",
        ])
    }
  }

  @Test(arguments: engines) func queriesFindTheirRowsAndEveryTableRefusesWhatIsWrong(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      let printed = try await Python.run(Python.script("supabase_queries"), arguments: [stack.gateway.base, end])
      #expect(
        printed.split(separator: "\n").map(String.init) == [
          "filters", "reads", "refused reads", "refused changes", "functions",
        ])
    }
  }

  /// Two phones of one user, and the phones of others: what one saves is on the others within a second.
  @Test(arguments: engines) func whatOnePhoneSavesIsOnTheOthersWithinASecond(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      let printed = try await Python.run(
        Python.script("supabase_live"), arguments: [stack.gateway.base, end])
      #expect(
        printed.split(separator: "\n").map(String.init) == [
          "places", "plans", "groups", "hunts", "shares", "strangers",
        ])
    }
  }
}
