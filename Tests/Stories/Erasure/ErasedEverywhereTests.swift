import Database
import Foundation
import Support
import Testing

/// After the erasure of an account, nothing that was stored or is stored later holds its e-mail address, phone number,
/// name or photo: no table, no file with data, no log, and no backup that is made then.
@Suite struct ErasedEverywhereTests {
  @Test(arguments: engines) func nothingOfTheErasedIsFoundAnywhere(engine: Engine) async throws {
    try await withTwilio { twilio in
      try await withMailServer { mail in
        try await withTestDatabase(engine) { testDatabase in
          let beganAt = ContinuousClock.now
          let kith = try await KithProcess.start(in: testDatabase, Self.settings(twilio, mail))
          var story = ErasureStory(kith: kith, twilio: twilio, mail: mail)
          let user = try await story.run()
          let (alice, bob) = (story.alice, story.bob)
          #expect(Set(alice.storedPhotos).isDisjoint(with: bob.storedPhotos))
          try await expectEverything(of: [alice, bob], in: testDatabase, kith)

          #expect(try await user.browser.delete("/api/v1/auth/account").status == 200)
          try await waitForErasure(of: alice, in: testDatabase)
          try await expectOnly(bob, not: alice, in: testDatabase, kith)
          #expect(kith.child.printed().contains(#""route":"/api/v1/auth/account""#), "the premise: there is a log")
          #expect(await kith.stop() == 0)
          #expect(try await alice.found(in: testDatabase) == [], "after a stop")
          #expect(try await bob.found(in: testDatabase) == bob.all)
          // What waits for a sweep waits for ten minutes.
          #expect(ContinuousClock.now - beganAt < .seconds(300))
        }
      }
    }
  }

  private static func settings(_ twilio: TwilioServer, _ mail: MailServer) -> [String: String] {
    var settings = twilio.settings.merging(mail.settings) { $1 }
    for name in ["", "_USER", "_SIGN_IN", "_UPLOAD"] { settings["RATE_LIMIT\(name)"] = "100000" }
    return settings.merging([
      "ACCOUNT_ERASE_AFTER_DAYS": "0", "SMS_PER_ADDRESS_HOUR": "1000", "SMS_PER_PREFIX_HOUR": "1000",
    ]) { $1 }
  }

  /// The premise: the search finds all of it, also in a backup.
  private func expectEverything(
    of people: [PersonalTraces], in testDatabase: TestDatabase, _ kith: KithProcess
  ) async throws {
    for person in people { #expect(try await person.found(in: testDatabase) == person.all) }
    guard testDatabase.engine == .sqlite else { return }
    let archive = try await backUp(kith, to: "before.tar", in: testDatabase)
    let bytes = try Data(contentsOf: archive)
    for person in people { #expect(person.found(in: [bytes]) == person.all) }
    try FileManager.default.removeItem(at: archive)
  }

  /// The bytes of photos are deleted seconds after their rows.
  private func waitForErasure(of person: PersonalTraces, in testDatabase: TestDatabase) async throws {
    try await eventually("the end of the erasure") {
      try await testDatabase.count("erasure where finished_at is not null", in: "auth") == 1
    }
    let photos = testDatabase.folder.appending(path: "photos")
    try await eventually("the end of the photos") {
      let files = try ResidualData.contents(of: photos)
      return person.found(in: files).isEmpty
    }
  }

  private func expectOnly(
    _ other: PersonalTraces, not erased: PersonalTraces, in testDatabase: TestDatabase, _ kith: KithProcess
  ) async throws {
    #expect(try await erased.found(in: testDatabase) == [])
    #expect(try await other.found(in: testDatabase) == other.all)
    guard testDatabase.engine == .sqlite else { return }
    let archive = try await backUp(kith, to: "after.tar", in: testDatabase)
    let bytes = try Data(contentsOf: archive)
    #expect(erased.found(in: [bytes]) == [])
    #expect(other.found(in: [bytes]) == other.all)
  }

  /// `kith backup`, while `kith` runs.
  private func backUp(_ kith: KithProcess, to name: String, in testDatabase: TestDatabase) async throws -> URL {
    let archive = testDatabase.folder.appending(path: name)
    let process = try KithProcess.launch(
      "kith", kith.environment, in: testDatabase, arguments: ["backup", archive.path])
    let code = await process.child.end(within: .seconds(180))
    #expect(code == 0, "\(process.child.printed())")
    return archive
  }
}
