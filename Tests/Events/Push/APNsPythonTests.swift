import Database
import Foundation
import Support
import Testing
import Wire

@testable import Events

/// Second opinions on the wire: a client that others use against Apple's servers talks to the stand-in for APNs, and a
/// server of another implementation of HTTP/2 takes what this one sends.
@Suite(.enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: notifications had no second opinion"))
struct APNsPythonTests {
  @Test func theStandInTakesWhatAnotherClientSends() async throws {
    try await withAPNs { apns, folder in
      let key = folder + "/provider.pem"
      try apns.privateKeyPEM.write(toFile: key, atomically: true, encoding: .utf8)
      let (valid, gone) = (String(repeating: "0a", count: 32), String(repeating: "0b", count: 32))
      apns.answerAlways(.init(status: 410, reason: "Unregistered", timestamp: 1_790_000_000_000), to: gone)
      let port = try #require(URL(string: apns.url)?.port)
      let printed = try await Python.run(
        Python.script("apns_client"),
        arguments: [
          "\(port)", folder + "/certificate.pem", key, APNsServer.keyID, APNsServer.team, APNsServer.topic, valid, gone,
        ])
      #expect(
        printed.split(separator: "\n").map(String.init) == [
          "first | 200 |  | ", "together 50", "background | 200 |  | ", "background now | 400 | BadPriority | ",
          "background that shows | 400 | InvalidPushType | ", "collapsed | 200 |  | ",
          "collapsed too long | 400 | BadCollapseId | ", "another topic | 400 | BadTopic | ",
          "no token | 400 | BadDeviceToken | ", "gone | 410 | Unregistered | timestamp",
          "too large | 413 | PayloadTooLarge | ", "once | 200 |  | ", "twice | 200 |  | ",
        ])
      #expect(apns.accepted.count == 54 && apns.doubles == 1)
    }
  }

  @Test(arguments: engines) func anotherServerTakesWhatIsSent(_ engine: Engine) async throws {
    try await withAPNs { apns, folder in
      let key = folder + "/public.pem"
      try apns.publicKey.pemRepresentation.write(toFile: key, atomically: true, encoding: .utf8)
      let program = folder + "/server.py"
      try Python.script("apns_server").write(toFile: program, atomically: true, encoding: .utf8)
      let server = try Python.start(
        program, [folder, key, APNsServer.keyID, APNsServer.team, APNsServer.topic, "40"], output: folder + "/output")
      var port = ""
      try await eventually("its port") {
        port = server.printed().split(separator: "\n").first.map(String.init) ?? ""
        return server.printed().contains("\n")
      }
      let settings = try apns.settings().merging(["APNS_URL": "https://localhost:\(port)"]) { $1 }
      try await withEvents(engine, settings) { fixture in
        let bob = try fixture.person()
        var events: [FeedEvent] = []
        for number in 1...40 {
          let person = try fixture.person()
          try await fixture.device(person)
          events.append(fixture.assignment("Aufgabe „\(number)“ 🛒", to: person, by: bob))
        }
        try await fixture.deliver(events)
        // A GOAWAY comes after the half of them.
        try await eventually("the end of the other server") {
          fixture.clock.advance(by: .seconds(2))
          return server.printed().contains("connections:")
        }
      }
      _ = await server.end()
      let lines = server.printed().split(separator: "\n").dropFirst().map(String.init)
      #expect(lines == ["40 notifications for 40 devices", "connections: several"])
    }
  }
}
