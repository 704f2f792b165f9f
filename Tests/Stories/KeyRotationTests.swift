import Auth
import Credits
import Crypto
import Database
import Foundation
import Gateway
import Support
import Synchronization
import Testing
import Tokens
import Web
import Wire

/// Signing keys are rotated under load: no request fails and nobody is signed out.
@Suite struct KeyRotationTests {
  @Test func aKeyFileIsReadAgainOnSIGHUP() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let file = testDatabase.folder.appendingPathComponent("keys.pem")
      let (old, new) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
      try Data(old.pemRepresentation.utf8).write(to: file)
      let kith = try await KithProcess.start(
        in: testDatabase,
        [
          "JWT_ALGORITHM": "ES256", "JWT_PRIVATE_KEY": file.path, "RATE_LIMIT": "1000000",
          "RATE_LIMIT_USER": "1000000", "RATE_LIMIT_REFRESH": "1000000",
        ])
      let backgroundUsers = BackgroundUsers(gateway: kith.gateway)
      try await backgroundUsers.working(people: 3) {
        let before = try await backgroundUsers.signIn("alice")
        try Data((new.pemRepresentation + "\n" + old.publicKey.pemRepresentation).utf8).write(to: file)
        kith.child.signal(SIGHUP)
        try await eventually("a token of the new key") {
          try await backgroundUsers.signIn("bob").keyID == SigningKey(pem: new.pemRepresentation).id
        }
        #expect(try await before.balance(kith.gateway) == 200)
        // A file that cannot be read changes nothing.
        try Data("not a key".utf8).write(to: file)
        kith.child.signal(SIGHUP)
        try await eventually { kith.child.printed().contains("token keys not reloaded") }
        let after = try await backgroundUsers.signIn("carol")
        #expect(try await after.balance(kith.gateway) == 200)
        #expect(try await before.balance(kith.gateway) == 200)
        try await Task.sleep(for: .seconds(1))
      }
      backgroundUsers.expectNoFailure()
      // Tokens of a removed key are rejected at once.
      let last = try await backgroundUsers.signIn("dave")
      try Data(P256.Signing.PrivateKey().pemRepresentation.utf8).write(to: file)
      kith.child.signal(SIGHUP)
      try await eventually { try await last.balance(kith.gateway) == 401 }
      #expect(await kith.stop() == 0)
    }
  }

  @Test(arguments: engines) func fromSecretsToKeyPairsAndBack(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let pem = P256.Signing.PrivateKey().pemRepresentation
      var changes = ["DRAIN_SECONDS": "2"]
      for service in ServiceName.bundled where ![.auth, .credits].contains(service) {
        changes["\(service.rawValue.uppercased())_URL"] = ""
      }
      let secrets = TestStack.settings(testDatabase, appleKeys: "http://127.0.0.1:1/").overlaid(changes)
      let both = secrets.overlaid(["JWT_PRIVATE_KEY": pem])
      let pairs = both.overlaid(["JWT_ALGORITHM": "ES256"])
      let dependencies = Dependencies(secrets, logger: quiet)
      let credits = try await buildCredits(dependencies.presenting("credits"))
      let gateway = try buildGateway(dependencies.presenting("gateway"))
      var replicas = [try await AuthReplica(of: dependencies), try await AuthReplica(of: dependencies)]
      func listed() { dependencies.serviceAddresses.set(.auth, to: replicas.map(\.url)) }
      listed()
      try await running([credits, gateway]) {
        dependencies.serviceAddresses.set(.credits, to: "http://127.0.0.1:\(try await credits.port.number)")
        let browser = Browser("http://127.0.0.1:\(try await gateway.port.number)")
        try await eventually { try await browser.get("/health").status == 200 }
        let backgroundUsers = BackgroundUsers(gateway: browser)
        try await backgroundUsers.working(people: 4) {
          var kinds: [String] = []
          // One replica after the other: first all accept the new key, then they sign with it, then they go back.
          for settings in [both, pairs, both, secrets] {
            for index in replicas.indices {
              let old = replicas[index]
              replicas[index] = try await AuthReplica(of: dependencies.with(settings))
              listed()
              try await old.stop()
            }
            kinds.append(try await backgroundUsers.signIn("alice").algorithm)
          }
          #expect(kinds == ["HS256", "ES256", "HS256", "HS256"])
        }
        backgroundUsers.expectNoFailure()
      }
      for replica in replicas { try await replica.stop() }
    }
  }
}
