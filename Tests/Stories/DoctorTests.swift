import Database
import Foundation
import Support
import Testing

@testable import kith

/// `kith doctor` beside a stack that runs, and with mistakes.
@Suite struct DoctorTests {
  private func doctor(
    _ environment: [String: String], in testDatabase: TestDatabase
  ) async throws -> (code: Int32, output: String) {
    let process = try KithProcess.launch("kith", environment, in: testDatabase, arguments: ["doctor"])
    let code = await process.child.end()
    return (code, process.child.printed())
  }

  @Test(arguments: engines) func aHealthyStackHasNoProblem(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      try await withKeyServer { apple in
        let settings = ["APPLE_BUNDLE_ID": "com.example.kith", "APPLE_JWKS_URL": apple.url]
        let kith = try await KithProcess.start(in: testDatabase, settings)
        let found = try await doctor(kith.environment, in: testDatabase)
        #expect(found.code == 0, "\(found.output)")
        for finding in [
          Finding.ok("configuration", "every variable is valid"), .ok("port", "gateway listens on"),
          .ok("port", "credits listens on"), .ok("Apple", "\(apple.url) answers"),
          .ok("clock", "agrees with that of Apple"),
        ] {
          #expect(printed(finding, in: found.output), "\(finding.lines): \(found.output)")
        }
        #expect(found.output.contains(engine == .sqlite ? "credits.db can be written" : "credits reaches PostgreSQL"))
        #expect(!found.output.contains("problem"))
        #expect(!found.output.contains(TestStack.adminKey))
        #expect(await kith.stop() == 0)
      }
    }
  }

  private static let half = "Twilio is half configured: TWILIO_AUTH_TOKEN, TWILIO_PHONE_NUMBER is not set"

  @Test(
    arguments: [
      (
        ["JWT_SECRET_KEY": "short", "ENVIRONMENT": "production"],
        .problem(
          "configuration", "JWT_SECRET_KEY is shorter than 32 bytes",
          mend: "set it to a random value, such as `openssl rand -hex 32` prints; docs/keys.md says how to replace one "
            + "in use")
      ),
      (
        ["JWT_SECRET_KEY": "", "ENVIRONMENT": "production"],
        .problem(
          "configuration", "JWT_SECRET_KEY is not set; `make env` writes a .env",
          mend: "remove an empty line of it from .env, and run `make env`, which adds what is missing")
      ),
      (
        ["SIGNUP_CREDITS": "many"],
        .problem(
          "configuration", "SIGNUP_CREDITS must be a whole number from 0 to",
          mend: "correct SIGNUP_CREDITS in .env; .env.example says what it takes")
      ),
      (
        ["TWILIO_ACCOUNT_SID": "AC1", "TWILIO_BASE_URL": "http://127.0.0.1:1"],
        .problem("configuration", half, mend: "set what is missing, or none of them, to do without")
      ),
      (
        ["PASSWORDS_FORBIDDEN": "/nowhere"],
        .problem(
          "configuration", "PASSWORDS_FORBIDDEN is not a file that can be read",
          mend: "check that the file is there, that the user that runs kith may read it, and that it is the right one")
      ),
      (
        [
          "STRIPE_SECRET_KEY": "sk_live_1", "STRIPE_WEBHOOK_SECRET": "whsec_1",
          "STRIPE_BASE_URL": "http://127.0.0.1:1",
        ],
        .problem(
          "configuration", "STRIPE_SECRET_KEY is a key of the live mode, which needs ENVIRONMENT=production",
          mend: "remove it, or set ENVIRONMENT to what this installation is")
      ),
      (
        ["DATABASE_URL": "mysql://db"],
        .problem(
          "database", "DATABASE_URL must be sqlite:///file.db, a folder ending in a slash, or postgres://host/name",
          mend: "correct DATABASE_URL; .env.example has its forms")
      ),
      (
        ["DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"],
        .problem(
          "database", #"auth: connection to server at "127.0.0.1", port 1 failed: Connection refused"#,
          mend: "check DATABASE_URL, and that the server runs and lets this role connect")
      ),
      (
        ["APPLE_BUNDLE_ID": "com.example.kith", "APPLE_JWKS_URL": "http://127.0.0.1:1/keys"],
        .problem(
          "Apple", "http://127.0.0.1:1/keys cannot be reached: Connection refused",
          mend: "check APPLE_JWKS_URL, and the firewall and the proxy for outgoing HTTPS")
      ),
      (
        ["DATA_DIR": "/proc/kith"],
        .problem(
          "folder", "/proc/kith is not writable", mend: "let the user that runs kith own it, or set DATA_DIR")
      ),
    ] as [([String: String], Finding)])
  func aMistakeIsNamedWithItsMend(mistake: [String: String], finding: Finding) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let environment = try KithProcess.environment(testDatabase).merging(mistake) { $1 }
      let found = try await doctor(environment, in: testDatabase)
      #expect(found.code == 1, "\(found.output)")
      #expect(printed(finding, in: found.output), "\(finding.lines)\n\(found.output)")
    }
  }

  /// Whether a finding was printed with its mend. What it says may go on, where the system says why.
  private func printed(_ finding: Finding, in output: String) -> Bool {
    let expected = finding.lines.split(separator: "\n")
    let lines = output.split(separator: "\n")
    guard let index = lines.firstIndex(where: { $0.hasPrefix(expected[0]) }) else { return false }
    return Array(lines[index...].prefix(expected.count).dropFirst()) == Array(expected.dropFirst())
  }

  @Test func aPortOfAnotherProgramIsAProblem() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      try await withKeyServer { other in
        let port = try #require(URL(string: other.url)?.port)
        var environment = try KithProcess.environment(testDatabase)
        environment["LISTS_PORT"] = String(port)
        let found = try await doctor(environment, in: testDatabase)
        #expect(found.code == 1)
        let problem = Finding.problem(
          "port", "port \(port) is in use by another program: lists needs it",
          mend: "stop the other program (`ss -ltnp 'sport = :\(port)'` names it), or set LISTS_PORT")
        #expect(printed(problem, in: found.output), "\(found.output)")
      }
    }
  }
}
