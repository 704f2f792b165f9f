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

/// Keys that change while everybody works: no request fails, nobody is signed out.
@Suite struct KeyRotationTests {
  @Test func aKeyFileIsReadAgainOnSIGHUP() async throws {
    try await withPlace(.sqlite) { place in
      let file = place.folder.appendingPathComponent("keys.pem")
      let (old, new) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
      try Data(old.pemRepresentation.utf8).write(to: file)
      let kith = try await KithProcess.start(
        in: place,
        [
          "JWT_ALGORITHM": "ES256", "JWT_PRIVATE_KEY": file.path, "RATE_LIMIT": "1000000",
          "RATE_LIMIT_USER": "1000000", "RATE_LIMIT_REFRESH": "1000000",
        ])
      let crowd = Crowd(gateway: kith.gateway)
      try await crowd.working(people: 3) {
        let before = try await crowd.signIn("alice")
        try Data((new.pemRepresentation + "\n" + old.publicKey.pemRepresentation).utf8).write(to: file)
        kith.child.signal(SIGHUP)
        try await eventually("a token of the new key") {
          try await crowd.signIn("bob").keyID == SigningKey(pem: new.pemRepresentation).id
        }
        #expect(try await before.balance(kith.gateway) == 200)
        // A file that cannot be read changes nothing.
        try Data("not a key".utf8).write(to: file)
        kith.child.signal(SIGHUP)
        try await eventually { kith.child.printed().contains("token keys not reloaded") }
        let after = try await crowd.signIn("carol")
        #expect(try await after.balance(kith.gateway) == 200)
        #expect(try await before.balance(kith.gateway) == 200)
        try await Task.sleep(for: .seconds(1))
      }
      crowd.expectNoFailure()
      // Withdrawn: its tokens are worthless, at once.
      let last = try await crowd.signIn("dave")
      try Data(P256.Signing.PrivateKey().pemRepresentation.utf8).write(to: file)
      kith.child.signal(SIGHUP)
      try await eventually { try await last.balance(kith.gateway) == 401 }
      #expect(await kith.stop() == 0)
    }
  }

  @Test(arguments: engines) func fromSecretsToKeyPairsAndBack(engine: Engine) async throws {
    try await withPlace(engine) { place in
      let pem = P256.Signing.PrivateKey().pemRepresentation
      var changes = ["DRAIN_SECONDS": "2"]
      for service in ServiceName.built where ![.auth, .credits].contains(service) {
        changes["\(service.rawValue.uppercased())_URL"] = ""
      }
      let secrets = TestStack.settings(place, appleKeys: "http://127.0.0.1:1/").overlaid(changes)
      let both = secrets.overlaid(["JWT_PRIVATE_KEY": pem])
      let pairs = both.overlaid(["JWT_ALGORITHM": "ES256"])
      let surroundings = Surroundings(secrets, logger: quiet)
      let credits = try await buildCredits(surroundings.presenting("credits"))
      let gateway = try buildGateway(surroundings.presenting("gateway"))
      var replicas = [try await Replica(of: surroundings), try await Replica(of: surroundings)]
      func listed() { surroundings.neighbours.moved(.auth, to: replicas.map(\.url)) }
      listed()
      try await running([credits, gateway]) {
        surroundings.neighbours.moved(.credits, to: "http://127.0.0.1:\(try await credits.port.number)")
        let browser = Browser("http://127.0.0.1:\(try await gateway.port.number)")
        try await eventually { try await browser.get("/health").status == 200 }
        let crowd = Crowd(gateway: browser)
        try await crowd.working(people: 4) {
          var kinds: [String] = []
          // One replica after the other: first all know the new key, then they sign with it, then they go back.
          for settings in [both, pairs, both, secrets] {
            for index in replicas.indices {
              let old = replicas[index]
              replicas[index] = try await Replica(of: surroundings.with(settings))
              listed()
              try await old.stop()
            }
            kinds.append(try await crowd.signIn("alice").algorithm)
          }
          #expect(kinds == ["HS256", "ES256", "HS256", "HS256"])
        }
        crowd.expectNoFailure()
      }
      for replica in replicas { try await replica.stop() }
    }
  }
}
