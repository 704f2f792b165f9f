import Foundation
import Hummingbird
import Support
import Testing
import Web

@testable import kith

/// The checks of `kith doctor`, each by itself.
@Suite struct DoctorCheckTests {
  // MARK: Outside services

  /// - Parameter seconds: by which the clock is ahead.
  private func providers(_ variables: [String: String], ahead seconds: TimeInterval = 0) async -> [Finding] {
    await ProviderCheck(settings: Settings(variables), now: { Date() + seconds }).findings()
  }

  private static let unknownTime = Finding.ok("clock", "is not compared, as no outside service has said the time")
  private static let clockMend = "synchronize it: `timedatectl set-ntp true`"

  @Test(arguments: [
    ("Apple", "APPLE_BUNDLE_ID", "APPLE_JWKS_URL", "http://127.0.0.1:1/keys"),
    ("App Store", "APPLE_IAP_KEY_ID", "APPLE_SERVER_API_URL", "https://127.0.0.1:1"),
    ("APNs", "APNS_KEY_ID", "APNS_URL", "https://127.0.0.1:1"),
    ("Twilio", "TWILIO_ACCOUNT_SID", "TWILIO_BASE_URL", "http://127.0.0.1:1"),
    ("Stripe", "STRIPE_SECRET_KEY", "STRIPE_BASE_URL", "https://127.0.0.1:1"),
    ("Google", "GOOGLE_API_KEY", "GOOGLE_BASE_URL", "https://127.0.0.1:1"),
    ("OpenRouter", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", "http://127.0.0.1:1/api"),
  ])
  func aProviderThatCannotBeReachedIsNamed(name: String, condition: String, variable: String, url: String) async {
    let found = await providers([condition: "set", variable: url])
    let problem = Finding.problem(
      name, "\(url) cannot be reached: Connection refused",
      mend: "check \(variable), and the firewall and the proxy for outgoing HTTPS")
    #expect(found == [Self.unknownTime, problem])
    #expect(await providers([variable: url]) == [Self.unknownTime], "it is not used")
  }

  @Test func aMailServerThatCannotBeReachedIsNamed() async {
    let found = await providers(["SMTP_URL": "smtp://127.0.0.1:1?tls=none"])
    let problem = Finding.problem(
      "SMTP", "127.0.0.1:1 cannot be reached: Connection refused",
      mend: "check SMTP_URL; many hosters block port 25 and sometimes 465 and 587")
    #expect(found == [Self.unknownTime, problem])
  }

  @Test func aProviderThatIsBrokenIsNamed() async throws {
    try await withKeyServer { server in
      let variables = ["APPLE_BUNDLE_ID": "com.example.kith", "APPLE_JWKS_URL": server.url]
      let (well, time) = (
        Finding.ok("Apple", "\(server.url) answers"), Finding.ok("clock", "agrees with that of Apple")
      )
      #expect(await providers(variables) == [time, well])
      server.setDown()
      let problem = Finding.problem("Apple", "\(server.url) answered 503", mend: "check APPLE_JWKS_URL")
      #expect(await providers(variables) == [time, problem])
    }
  }

  /// Any outside service says the time, whichever is used.
  @Test(
    arguments: [(0, .ok), (60, .warning), (-60, .warning), (300, .problem), (-300, .problem)]
      as [(Int, Finding.Severity)])
  func aWrongClockIsFound(seconds: Int, severity: Finding.Severity) async throws {
    try await withKeyServer { server in
      for (name, condition, variable) in [
        ("Apple", "APPLE_BUNDLE_ID", "APPLE_JWKS_URL"), ("Twilio", "TWILIO_ACCOUNT_SID", "TWILIO_BASE_URL"),
        ("Stripe", "STRIPE_SECRET_KEY", "STRIPE_BASE_URL"),
      ] {
        let began = ContinuousClock.now
        let found = await providers([condition: "set", variable: server.url], ahead: TimeInterval(seconds))
        // The header has whole seconds, may be a second old, and takes its time.
        let late = 2 + Int((ContinuousClock.now - began) / .seconds(1))
        let texts = (seconds...(seconds + late)).map {
          "is \(abs($0)) seconds \($0 > 0 ? "ahead of" : "behind") that of \(name)"
        }
        let clock = try #require(found.first)
        #expect(clock.severity == severity && clock.mend == (severity == .ok ? nil : Self.clockMend), "\(clock)")
        #expect((severity == .ok ? ["agrees with that of \(name)"] : texts).contains(clock.text), "\(clock)")
        #expect(Array(found.dropFirst()) == [.ok(name, "\(server.url) answers")])
      }
    }
  }

  /// As in the services, of which only events reads `TLS_EXTRA_ROOTS`.
  @Test func onlyPushTrustsFurtherAuthorities() async throws {
    try await withCertificate { folder in
      let server = try Python.start(Python.file("https_server.py").path, [folder], output: folder + "/output")
      defer { server.signal(SIGKILL) }
      try await eventually("its port") { server.printed().contains("\n") }
      let url = "https://localhost:\(server.printed().trimmingCharacters(in: .whitespacesAndNewlines))"
      let roots = ["TLS_EXTRA_ROOTS": folder + "/certificate.pem"]
      let push = ["APNS_KEY_ID": "KEY", "APNS_URL": url]
      let trusted = await providers(push.merging(roots) { $1 })
      #expect(trusted == [.ok("clock", "agrees with that of APNs"), .ok("APNs", "\(url) answers")])

      let texts = ["TWILIO_ACCOUNT_SID": "AC1", "TWILIO_BASE_URL": url].merging(roots) { $1 }
      for (name, variable, variables) in [("APNs", "APNS_URL", push), ("Twilio", "TWILIO_BASE_URL", texts)] {
        let problem = Finding.problem(
          name, "\(url) cannot be reached: its certificate is of an unknown authority, or of another name",
          mend: "check \(variable), and the package ca-certificates; for a proxy with an authority of its own see "
            + "TLS_EXTRA_ROOTS")
        #expect(await providers(variables) == [Self.unknownTime, problem])
      }
    }
  }

  // MARK: This machine

  private static let spaceMend = "make room, or set DATA_DIR to a folder on another disk"

  @Test(
    arguments: [
      (100_000_000, .problem("disk", "only 100 MB are free: writes will soon fail", mend: spaceMend)),
      (1_500_000_000, .warning("disk", "only 1500 MB are free", mend: spaceMend)),
      (5_000_000_000, .ok("disk", "5 GB are free")), (nil, .ok("disk", "its room is unknown")),
    ] as [(Int?, Finding)])
  func aDiskThatIsNearlyFullIsFound(free: Int?, finding: Finding) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let check = StorageCheck(settings: Settings(testDatabase.settings), freeBytes: { _ in free })
      let found = await check.findings()
      #expect(found == [.ok("folder", "\(testDatabase.folder.path) is writable"), finding])
    }
  }

  /// Many programs answer 200, whatever they are asked.
  @Test(arguments: [#"{"status":"ok"}"#, "Hello", ""])
  func anotherProgramThatIsHealthyIsNotKith(body: String) async throws {
    let (router, listening) = (Router(), ListeningPort())
    for path: RouterPath in ["/health", "/health/live"] {
      router.get(path) { _, _ in Response(status: .ok, body: .init(byteBuffer: .init(string: body))) }
    }
    try await running([loopbackServer(router, listening)]) {
      let port = try await listening.number
      var variables = ["PORT": "0", "LISTS_PORT": String(port)]
      for service in ServiceName.bundled where service != .lists { variables["\(service.variablePrefix)_PORT"] = "0" }
      let found = await PortCheck(settings: Settings(variables)).findings()
      let problem = Finding.problem(
        "port", "port \(port) is in use by another program: lists needs it",
        mend: "stop the other program (`ss -ltnp 'sport = :\(port)'` names it), or set LISTS_PORT")
      #expect(found.filter { $0.severity != .ok } == [problem])
      #expect(found.contains(.ok("port", "gateway takes any free one")))
    }
  }

  @Test(arguments: [
    ("JWT_SECRET_KEY is not set; `make env` writes a .env", "run `make env`"),
    ("SERVICE_KEYS (lists) is a sample, not a secret", "openssl rand"),
    ("Push is half configured: APNS_TOPIC is not set", "set what is missing"),
    ("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set for PHOTO_STORAGE", "set what is missing"),
    ("SMTP_URL: tls=none is for development", "set ENVIRONMENT"),
    ("STRIPE_SECRET_KEY is a key of the test mode, which production does not accept", "set ENVIRONMENT"),
    ("the folder for photos, /photos, cannot be made", "write there"),
    ("APNS_PRIVATE_KEY is not a P-256 private key in PEM, nor a file with one", "check that the file is there"),
    ("BILLING_PRODUCTS: products.yaml:3: no price", "correct the file"),
    ("ENVIRONMENT must be development, staging or production", "correct ENVIRONMENT in .env"),
    ("LOG_FORMAT must be json or text", "correct LOG_FORMAT in .env"),
    ("something else", ".env.example describes every variable"),
  ])
  func eachKindOfMistakeHasItsMend(reason: String, mend: String) {
    #expect(ConfigurationMend.mend(for: reason).contains(mend))
  }
}
