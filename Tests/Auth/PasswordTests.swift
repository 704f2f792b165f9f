import Foundation
import Support
import Testing
import Web
import Wire

@testable import Auth

/// Hashing and comparing passwords.
@Suite struct PasswordTests {
  private let dependencies = Dependencies(Settings([:]), logger: quiet)

  /// Parameters for hashes that take little time.
  private static let lowCost = Argon2(memoryKiB: 64, passes: 1, lanes: 1)

  private func passwords(_ argon2: Argon2 = lowCost, forbidden: ForbiddenPasswords? = nil) -> PasswordHasher {
    PasswordHasher(argon2, forbidden: forbidden, threads: 2, waitingMax: 100, in: dependencies.registry)
  }

  /// How many hashes have been made or compared.
  private var hashesDone: Int {
    let line = dependencies.registry.text().split(separator: "\n").first {
      $0.hasPrefix(#"kith_password_hashes_total{outcome="done"}"#)
    }
    return line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
  }

  @Test func thePasswordMatchesAndNoOtherDoes() async throws {
    let passwords = try PasswordHasher(Settings([:]), in: dependencies.registry)
    let hash = try await passwords.hash("correct horse 🐎")
    #expect(hash.hasPrefix("$argon2id$v=19$m=47104,t=1,p=1$"))
    #expect(try await passwords.matches("correct horse 🐎", hash))
    #expect(!(try await passwords.matches("Correct horse 🐎", hash)))
    #expect(!(try await passwords.matches("", hash)))
    #expect(try await passwords.hash("correct horse 🐎") != hash, "a salt of its own")
  }

  @Test func aPasswordIsTheSameOnEveryKeyboard() async throws {
    let passwords = passwords()
    let hash = try await passwords.hash("Zoe\u{308} schläft\u{A0}heute")
    #expect(try await passwords.matches("Zo\u{EB} schla\u{308}ft heute", hash))
    #expect(!(try await passwords.matches("Zoe schläft heute", hash)))
  }

  @Test(arguments: [
    "", "short", "1234567", "with a\u{0}NUL inside", "with a\ttab inside", "a\u{7F}delete inside",
    String(repeating: "a", count: 257), String(repeating: "ü", count: 129), String(repeating: "a", count: 100_000),
  ])
  func whatIsNoPasswordIsRefusedByField(typed: String) async throws {
    let failure = await #expect(throws: Failure.self) { try await passwords().hash(typed, field: "user.password") }
    #expect(failure?.fields.map(\.field) == ["user.password"])
    #expect(typed.isEmpty || failure?.message.contains(typed) == false)
    #expect(hashesDone == 0)
  }

  @Test(arguments: ["12345678", String(repeating: "a", count: 256), "🐎🐎", "        "])
  func whatIsAsLongAsItMayBeIsTaken(typed: String) async throws {
    let passwords = passwords()
    let hash = try await passwords.hash(typed)
    #expect(try await passwords.matches(typed, hash))
  }

  @Test func whoHasNoAccountCostsTheSameWork() async throws {
    let passwords = passwords()
    let hash = try await passwords.hash("correct horse")
    var done = hashesDone
    #expect(done == 1)
    for (typed, kept) in [
      ("correct horse", hash), ("wrong horse", hash), ("correct horse", nil), ("", hash), ("", nil),
      (String(repeating: "a", count: 10_000), hash),
    ] {
      let matches = try await passwords.matches(typed, kept)
      #expect(matches == (typed == "correct horse" && kept != nil))
      #expect(hashesDone == done + 1)
      done += 1
    }
    try await passwords.compareDummy()
    #expect(hashesDone == done + 1)
    // The dummy hash has the same parameters as all others.
    #expect(Self.lowCost.isCurrent(Self.lowCost.dummyHash))
    #expect(Argon2.recommended.isCurrent(Argon2.recommended.dummyHash))
  }

  @Test func aHashOfAnotherTimeMatchesAndIsMadeAnew() async throws {
    let (old, new) = (passwords(), passwords(Argon2(memoryKiB: 128, passes: 2, lanes: 1)))
    let hash = try await old.hash("correct horse")
    #expect(try await new.matches("correct horse", hash))
    #expect(new.needsRehash(hash))
    #expect(!old.needsRehash(hash))
    #expect(!new.needsRehash(try await new.hash("correct horse")))
    for odd in ["", "$", "$argon2i$v=19$m=64,t=1,p=1$a$b", hash.replacing("v=19", with: "v=16"), hash + "AA"] {
      #expect(old.needsRehash(odd))
    }
  }

  @Test func whatIsNoHashIsAnErrorAndNoMatch() async throws {
    let passwords = passwords()
    for odd in ["", "correct horse", "$2b$12$abcdefghijklmnopqrstuv"] {
      await #expect(throws: Argon2.LibraryError.self) { try await passwords.matches("correct horse", odd) }
    }
  }

  @Test func aCrowdIsToldToComeBack() async throws {
    let crowded = PasswordHasher(
      Argon2(memoryKiB: 47_104, passes: 1, lanes: 1), threads: 1, waitingMax: 2, in: dependencies.registry)
    let outcomes = try await atOnce(30) { _ in
      do {
        try await crowded.compareDummy()
        return Failure.Kind?.none
      } catch let failure as Failure {
        #expect(failure.retryAfterSeconds == 2)
        return failure.kind
      }
    }
    let done = outcomes.count { $0 == nil }
    #expect(done >= 3)
    #expect(outcomes.count { $0 == .unavailable } == 30 - done)
    #expect(done < 30)
    #expect(hashesDone == done)
  }

  @Test func commonPasswordsAreRefusedWhenThereIsAList() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "kith-common-\(UUID())")
    try Data("password\r\n12345678\nQwerty123\nTSCHÜSSCHEN\n\nshort\n\u{FF}".utf8).write(to: file)
    defer { do { try FileManager.default.removeItem(at: file) } catch { Issue.record(error) } }
    let passwords = try PasswordHasher(Settings(["PASSWORDS_FORBIDDEN": file.path]), in: dependencies.registry)
    for common in ["password", "PassWord", "12345678", "qwerty123", "Tschu\u{308}sschen"] {
      let failure = await #expect(throws: Failure.self) { try await passwords.hash(common) }
      #expect(failure?.fields.map(\.message) == ["is too common; choose another"])
    }
    let taken = try await passwords.hash("passwords")
    // Passwords that are already set are not checked against the list.
    #expect(try await passwords.matches("passwords", taken))
    #expect(try await self.passwords().hash("password").isEmpty == false, "without a list nothing is common")
    let failure = #expect(throws: StartFailure.self) {
      try PasswordHasher(Settings(["PASSWORDS_FORBIDDEN": "/nowhere/list"]), in: dependencies.registry)
    }
    #expect(failure?.description.contains("PASSWORDS_FORBIDDEN") == true)
  }

  @Test func everyLineOfALongListIsFound() {
    for count in [0, 1, 2, 3, 1000] {
      let list = (0..<count).map { "password \($0)" }
      let forbidden = ForbiddenPasswords(list)
      for password in list { #expect(forbidden.contains(password)) }
      #expect(!forbidden.contains("password -1"))
    }
  }

  @Test(.enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: argon2-cffi was not asked"))
  func anotherImplementationAgreesBothWays() async throws {
    let passwords = try PasswordHasher(Settings([:]), in: dependencies.registry)
    let ours = try await passwords.hash("Zoë's horse 🐎")
    let theirs = try await Python.run(
      """
      import argon2
      hasher = argon2.PasswordHasher(time_cost=1, memory_cost=47104, parallelism=1, hash_len=32, salt_len=16)
      hasher.verify(sys.argv[1], 'Zoë\\'s horse 🐎')
      assert not hasher.check_needs_rehash(sys.argv[1])
      try:
        hasher.verify(sys.argv[1], 'zoë\\'s horse 🐎')
        raise SystemExit('another password matched')
      except argon2.exceptions.VerifyMismatchError: pass
      print(hasher.hash('Zoë\\'s horse 🐎'), end='')
      """, arguments: [ours])
    #expect(try await passwords.matches("Zoë's horse 🐎", theirs))
    #expect(!(try await passwords.matches("zoë's horse 🐎", theirs)))
    #expect(!passwords.needsRehash(theirs))
  }
}
