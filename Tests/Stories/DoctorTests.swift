import Database
import Foundation
import Support
import Testing

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
        for text in ["every variable is valid", "gateway listens on", "credits listens on", "\(apple.url) answers"] {
          #expect(found.output.contains(text), "\(text): \(found.output)")
        }
        #expect(found.output.contains(engine == .sqlite ? "credits.db can be written" : "credits reaches PostgreSQL"))
        #expect(!found.output.contains("problem"))
        #expect(!found.output.contains(TestStack.adminKey))
        #expect(await kith.stop() == 0)
      }
    }
  }

  @Test(arguments: [
    (["JWT_SECRET_KEY": "short", "ENVIRONMENT": "production"], "JWT_SECRET_KEY"),
    (["SIGNUP_CREDITS": "many"], "SIGNUP_CREDITS must be a whole number"),
    (["DATABASE_URL": "mysql://db"], "DATABASE_URL"),
    (["DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"], "check DATABASE_URL"),
    (["APPLE_BUNDLE_ID": "com.example.kith", "APPLE_JWKS_URL": "http://127.0.0.1:1/keys"], "cannot be reached"),
    (["SMTP_URL": "smtp://127.0.0.1:1?tls=none", "MAIL_FROM": "kith@example.com"], "127.0.0.1:1 cannot be reached"),
    (["DATA_DIR": "/proc/kith"], "kith"),
  ])
  func aMistakeIsNamedWithItsMend(mistake: [String: String], text: String) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let environment = try KithProcess.environment(testDatabase).merging(mistake) { $1 }
      let found = try await doctor(environment, in: testDatabase)
      #expect(found.code == 1, "\(found.output)")
      #expect(found.output.contains("problem  "), "\(found.output)")
      #expect(found.output.contains(text), "\(found.output)")
      #expect(found.output.contains("→"))
    }
  }

  @Test func aPortOfAnotherProgramIsAProblem() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      try await withKeyServer { other in
        let port = try #require(URL(string: other.url)?.port)
        var environment = try KithProcess.environment(testDatabase)
        environment["LISTS_PORT"] = String(port)
        let found = try await doctor(environment, in: testDatabase)
        #expect(found.code == 1)
        #expect(found.output.contains("port \(port) is in use by another program: lists needs it"), "\(found.output)")
      }
    }
  }
}
