import Foundation
import Support
import Testing

/// schemathesis generates valid and invalid requests from the merged document and compares every response with it.
@Suite struct SchemathesisTests {
  private static let isPythonAvailable = Python.isAvailable
  private static let words: Comment = "PYTHON IS NOT THERE: schemathesis has not called what the document describes"

  /// Thousands of requests take their time on a busy machine, and the time includes the wait for other tests.
  @Test(.enabled(if: isPythonAvailable, words), .timeLimit(.minutes(40)), arguments: ["nobody", "user", "system"])
  func everyAnswerIsAsDocumented(caller: String) async throws {
    try await withKith { kith in
      let (code, report) = try await Self.calls(by: caller, to: kith, from: Self.document(of: kith))
      #expect(code == 0, "\(report)\n\(kith.child.printed())")
      #expect(report.contains("No issues found"), "\(report)")
    }
  }

  /// The premise of the test above. A few operations are enough for it.
  @Test(
    .enabled(if: isPythonAvailable, words), .timeLimit(.minutes(20)),
    arguments: [
      (#""lifetime_earned":{"minimum":0"#, #""lifetime_earned":{"maximum":0"#, "Response violates schema", "user"),
      (#""text/css""#, #""text/plain""#, "Undocumented Content-Type", "user"),
      (#""WWW-Authenticate""#, #""WWW-Other""#, "Missing required response headers", "nobody"),
    ])
  func anAnswerThatIsNotDocumentedIsFound(
    text: String, replacement: String, finding: String, caller: String
  ) async throws {
    try await withKith { kith in
      let document = String(decoding: try await Self.document(of: kith), as: UTF8.self)
      #expect(document.contains(text))
      let changed = Data(document.replacing(text, with: replacement).utf8)
      let (code, report) = try await Self.calls(by: caller, to: kith, from: changed, phases: "coverage", only: Self.few)
      #expect(code == 1, "\(report)")
      #expect(report.contains(finding), "\(report)")
    }
  }

  /// Rate limits have tests of their own; routes that are not configured would answer 503.
  private func withKith(_ body: (KithProcess) async throws -> Void) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      try await withKeyServer { apple in
        let root = testDatabase.folder.appending(path: "root.pem").path
        try Data(AppStoreCertificates().rootPEM.utf8).write(to: URL(filePath: root))
        var settings = [
          "DEBUG": "true", "APPLE_BUNDLE_ID": "com.example.kith", "APPLE_JWKS_URL": apple.url,
          "APPLE_ROOT_CERTIFICATES": root, "STRIPE_SECRET_KEY": "sk_test_0123456789abcdef0123456789",
          "STRIPE_WEBHOOK_SECRET": "whsec_0123456789abcdef0123456789abcdef", "STRIPE_BASE_URL": apple.url,
        ]
        settings["LOG_LEVEL"] = "error"
        for name in ["", "_USER", "_SIGN_IN", "_REFRESH", "_UPLOAD", "_SEARCH", "_PHOTO", "_SOCKET"] {
          settings["RATE_LIMIT\(name)"] = "1000000"
        }
        let kith = try await KithProcess.start(in: testDatabase, settings)
        do { try await body(kith) } catch {
          await kith.kill()
          throw error
        }
        #expect(await kith.stop() == 0)
      }
    }
  }

  /// With the operations of all services: they are missing while a service answers late, as on a busy machine.
  private static func document(of kith: KithProcess) async throws -> Data {
    var reply = try await kith.gateway.get("/openapi.json")
    try await eventually("the operations of all services; it answered \(reply.status): \(reply.text.prefix(1000))") {
      if reply.status == 200, paths.allSatisfy(reply.text.contains) { return true }
      reply = try await kith.gateway.get("/openapi.json")
      return false
    }
    return reply.body
  }

  /// A path of each service.
  private static let paths = [
    "/api/v1/auth/refresh", "/collections/{collection}/invites", "/api/groups", "/api/v1/lists",
    "/api/v1/credits/balance", "/realtime/v1/events", "/rest/v1/scavenger_hunts/join", "/api/v1/timepoints/generate",
  ].map { "\"\($0)\":" }

  private static let few = "^/(docs|api/v1/credits|api/v1/auth/me)"

  private static let checks = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
    "response_headers_conformance", "unsupported_method", "allow_header_conformance", "lets_in_who_may",
  ]

  /// Deterministic: no randomness, no state of earlier runs.
  private static func calls(
    by caller: String, to kith: KithProcess, from document: Data,
    phases: String = "examples,coverage,fuzzing,stateful", only paths: String = "."
  ) async throws -> (code: Int32, printed: String) {
    let file = FileManager.default.temporaryDirectory.appending(path: "kith-openapi-\(UUID()).json")
    try document.write(to: file)
    // `try?`: a file that is left over does no harm.
    defer { try? FileManager.default.removeItem(at: file) }
    return try await Python.outcome(
      ofModule: "schemathesis.cli",
      [
        "--config-file", Python.file("schemathesis.toml").path, "run", file.path, "--url", kith.gateway.base,
        "--no-color", "--checks", checks.joined(separator: ","),
        "--phases", phases, "--include-path-regex", paths, "--generation-deterministic", "--max-examples", "10",
        "--continue-on-failure", "--request-timeout", "30", "--suppress-health-check", "all", "--warnings", "off",
      ],
      variables: [
        "SCHEMATHESIS_HOOKS": Python.file("schemathesis_hooks.py").path, "KITH_BASE": kith.gateway.base,
        "KITH_CALLER": caller, "KITH_ADMIN_KEY": TestStack.adminKey,
        "KITH_SERVICE_KEY": TestStack.keys["sync+act"] ?? "",
      ])
  }
}
