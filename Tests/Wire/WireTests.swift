import Foundation
import Testing
import Wire

@Suite struct WireTests {
  private func encoded(_ failure: Failure, at path: String) throws -> [String: Any] {
    let problem = Problem(failure, as: APIDialect(path: path), requestID: "r1")
    return try #require(try JSONSerialization.jsonObject(with: JSON.encode(problem)) as? [String: Any])
  }

  @Test func everyContractsClientFindsWhatItLooksFor() throws {
    let body = try encoded(.invalid(.init("name", "is required")), at: "/api/v1/lists")
    #expect(body["detail"] as? String == "name is required")
    #expect(body["message"] as? String == "name is required")
    #expect(body["code"] as? String == "validation_error")
    #expect(body["status"] as? Int == 422)
    #expect(body["hint"] is NSNull)
    #expect(body["request_id"] as? String == "r1")
    let error = try #require(body["error"] as? [String: Any])
    #expect(error["code"] as? String == "validation_error")
    #expect(error["details"] as? [String: [String]] == ["name": ["is required"]])
    #expect((body["errors"] as? [[String: String]])?.first == ["field": "name", "message": "is required"])
  }

  @Test func detailsAreThereEvenWhenThereIsNothingToSay() throws {
    let body = try encoded(.notFound, at: "/api/v1/lists/7")
    #expect((body["error"] as? [String: Any])?["details"] is NSNull)
    #expect(body["errors"] == nil)
  }

  @Test(arguments: [
    ("/api/v1/credits/history", 422), ("/internal/credits/check", 422), ("/collections/col_1/invites", 400),
    ("/auth/v1/signup", 400), ("/rest/v1/hunts", 400),
  ])
  func badFieldsHaveTheStatusOfTheirFamily(path: String, status: Int) throws {
    #expect(try encoded(.invalid(.init("x", "is required")), at: path)["status"] as? Int == status)
    #expect(try encoded(.malformed, at: path)["status"] as? Int == 400)
  }

  @Test func supabasesClientsHearTheirOwnWords() throws {
    let body = try encoded(.invalid(.init("email", "is required")), at: "/auth/v1/signup")
    #expect(body["code"] as? String == "validation_failed")
    #expect(body["error_code"] as? String == "validation_failed")
    #expect(body["msg"] as? String == "email is required")
    let error = try #require(body["error"] as? [String: Any])
    #expect(error["code"] as? String == "VALIDATION_ERROR")
    #expect(error["details"] as? String == "email is required")
    let rest = try encoded(.unauthorized, at: "/rest/v1/x")["error"] as? [String: Any]
    #expect(rest?["code"] as? String == "AUTH_REQUIRED")
  }

  @Test(arguments: [
    ("/rest/v1/nothing", Failure.notFound, "PGRST205"), ("/rest/v1/rpc/nothing", .notFound, "PGRST202"),
    ("/rest/v1/rpc", .notFound, "PGRST205"), ("/rest/v1/hunts/join", Failure(.notFound, "hunt_not_found", ""), "PT404"),
    ("/rest/v1/x", .unauthorized, "PGRST301"), ("/rest/v1/rpc/x", .unauthorized, "PGRST301"),
    ("/rest/v1/x", Failure(.unauthorized, "token_expired", ""), "PGRST303"),
    ("/rest/v1/rpc/x", Failure(.unauthorized, "token_expired", ""), "PGRST303"),
  ])
  func postgRESTsCodesSayWhatIsMissing(path: String, failure: Failure, code: String) throws {
    let answer = FailureResponse(failure, as: APIDialect(path: path), requestID: "r1")
    #expect(answer.headers.contains { $0.name == "proxy-status" && $0.value == "PostgREST; error=\(code)" })
    let body = try encoded(failure, at: path)
    #expect(body["code"] as? String == code && body["details"] is NSNull)
    #expect(code != "PGRST303" || body["message"] as? String == "JWT expired")
  }

  /// Supabase's libraries can decode only this body: string members and no others.
  @Test func whoNamesGoTruesVersionGetsItsBodyAlone() throws {
    func sent(_ failure: Failure, at path: String, version: String?) throws -> (FailureResponse, [String: Any]) {
      let answer = FailureResponse(
        failure, as: APIDialect(path: path), version: version.flatMap { GoTrueVersion($0) }, requestID: "r1")
      return (answer, try #require(try JSONSerialization.jsonObject(with: answer.body) as? [String: Any]))
    }
    let (answer, body) = try sent(.unauthorized, at: "/auth/v1/user", version: "2024-01-01")
    #expect(body as? [String: String] == ["code": "no_authorization", "message": "Sign in to continue."])
    let headers = Dictionary(uniqueKeysWithValues: answer.headers.map { ($0.name, $0.value) })
    #expect(
      headers == [
        "cache-control": "no-store", "content-type": "application/json", "www-authenticate": "Bearer",
        "x-sb-error-code": "no_authorization", "x-supabase-api-version": "2024-01-01",
      ])
    for (path, version) in [("/auth/v1/user", nil), ("/auth/v1/user", "latest"), ("/api/v1/auth/me", "2024-01-01")] {
      let (answer, body) = try sent(.unauthorized, at: path, version: version)
      #expect(body["error"] is [String: Any] && body["status"] as? Int == 401)
      #expect(!answer.headers.contains { $0.name == "x-supabase-api-version" })
    }
    var weak = Failure.invalid(.init("password", "must be longer"))
    weak.reasons = ["length"]
    for version in ["2024-01-01", nil] {
      let (answer, body) = try sent(weak, at: "/auth/v1/signup", version: version)
      #expect(answer.status == 422 && body["code"] as? String == "weak_password")
      #expect(body["weak_password"] as? [String: [String]] == ["reasons": ["length"]])
    }
    let (elsewhere, other) = try sent(weak, at: "/api/v1/auth/sign_up", version: nil)
    #expect(elsewhere.status == 422 && other["code"] as? String == "validation_error" && other["weak_password"] == nil)
  }

  @Test(arguments: ["/api/v1/tasks/7", "/register"]) func whoAsksTooOftenIsToldHowLongToWaitInTheBody(path: String)
    throws
  {
    let now = Date(timeIntervalSince1970: 1_795_248_930.25)
    let failure = Failure(.limited, "rate_limited", "Later.", retryAfterSeconds: 42)
    let problem = Problem(failure, as: APIDialect(path: path), requestID: nil, at: now)
    let body = try #require(try JSONSerialization.jsonObject(with: JSON.encode(problem)) as? [String: Any])
    let error = try #require(body["error"] as? [String: Any])
    #expect(error["status"] as? Int == 429 && error["retry_after"] as? Int == 42)
    #expect(error["timestamp"] as? String == "2026-11-21T08:15:30.250Z")
    #expect(error["code"] as? String == "rate_limited" && error["message"] as? String == "Later.")
    // Only in these dialects, as other clients may fail to decode further members.
    for (failure, path) in [(failure, "/auth/v1/otp"), (failure, "/rest/v1/x"), (.notFound, path)] {
      let error = try encoded(failure, at: path)["error"] as? [String: Any]
      #expect(error?["status"] == nil && error?["retry_after"] == nil && error?["timestamp"] == nil)
    }
  }

  @Test func whatIsUnavailableAlwaysSaysWhenToTryAgain() {
    #expect(Failure(.unavailable, "x", "X.").retryAfterSeconds == 1)
    #expect(Failure(.unavailable, "x", "X.", retryAfterSeconds: 60).retryAfterSeconds == 60)
    #expect(Failure(.notFound, "x", "X.").retryAfterSeconds == nil)
  }

  @Test(arguments: Failure.Kind.allCases) func aFailureSurvivesTheJourney(kind: Failure.Kind) throws {
    var sent = Failure(kind, "some_code", "Some words.")
    if kind == .invalid { sent = .invalid(.init("a", "is required")) }
    let body = try JSON.encode(Problem(sent, as: .api, requestID: nil))
    let arrived = try JSON.decode(Problem.self, from: body).failure
    #expect(arrived.code == sent.code)
    #expect(arrived.message == sent.message)
    #expect(arrived.fields == sent.fields)
    #expect(APIDialect.api.status(of: arrived.kind) == APIDialect.api.status(of: kind))
  }

  @Test func idsAreVersionSevenAndSortByTime() throws {
    let now = Date(timeIntervalSince1970: 1_763_690_000.5)
    let ids = (0..<50).map { UserID.new(at: now + Double($0) / 1000) }
    #expect(ids.map(\.description).sorted() == ids.map(\.description))
    for id in ids {
      #expect(id.description[id.description.index(id.description.startIndex, offsetBy: 14)] == "7")
      #expect("89ab".contains(id.description[id.description.index(id.description.startIndex, offsetBy: 19)]))
      #expect(UserID(id.description.uppercased()) == id)
    }
    #expect(Set((0..<1000).map { _ in UserID.new(at: now) }).count == 1000)
    for wrong in ["", "abc", "01a1fc33-3b5d-7926-bc72-8d84d5f7f60", "{01a1fc33-3b5d-7926-bc72-8d84d5f7f60e}"] {
      #expect(UserID(wrong) == nil)
    }
  }

  @Test func timesAreUTCWithZ() throws {
    let date = Date(timeIntervalSince1970: 1_763_690_000.123)
    #expect(RFC3339.milliseconds(date) == "2025-11-21T01:53:20.123Z")
    #expect(RFC3339.seconds(date) == "2025-11-21T01:53:20Z")
    #expect(RFC3339.parse("2025-11-21T01:53:20.123Z") == date)
    #expect(RFC3339.parse("2025-11-21T01:53:20Z") == Date(timeIntervalSince1970: 1_763_690_000))
    for wrong in ["2025-11-21T01:53:20", "2025-11-21T01:53:20+01:00", "2025-13-21T01:53:20Z", "tomorrow", ""] {
      #expect(RFC3339.parse(wrong) == nil)
    }
  }

  /// Also in the form with more than three decimals, which the format style reads.
  @Test(arguments: ["", ".5", ".123", ".123456"]) func daysThatDoNotExistAreRefused(fraction: String) {
    let wrong = [
      "2026-02-29", "2026-02-30", "2026-02-31", "1900-02-29", "2100-02-29", "2026-04-31", "2026-06-31", "2026-00-10",
      "2026-01-00", "2026-01-32", "2026-13-01", "1000-02-30",
    ]
    for day in wrong { #expect(RFC3339.parse("\(day)T10:00:00\(fraction)Z") == nil, "\(day)\(fraction)") }
    for day in ["2024-02-29", "2000-02-29", "2026-02-28", "2026-04-30", "2026-12-31", "1000-02-28"] {
      #expect(RFC3339.parse("\(day)T10:00:00\(fraction)Z") != nil, "\(day)\(fraction)")
    }
  }

  @Test func everyMillisecondComesBack() {
    for millisecond in 0..<1000 {
      let date = Date(timeIntervalSince1970: Double(1_763_690_000_000 + millisecond) / 1000)
      #expect(RFC3339.parse(RFC3339.milliseconds(date)) == date)
    }
  }

  @Test func requestIDsThatCouldBreakALineAreReplaced() {
    #expect(Trace(requestID: "abc-1.2_X", traceparent: nil).requestID == "abc-1.2_X")
    for wrong in ["", "a b", "a\nb", "a\"b", String(repeating: "a", count: 129), "é"] {
      let made = Trace(requestID: wrong, traceparent: nil).requestID
      #expect(made != wrong)
      #expect(made.utf8.count == 32)
    }
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    #expect(Trace(requestID: nil, traceparent: parent).traceparent == parent)
    #expect(Trace(requestID: nil, traceparent: parent.uppercased()).traceparent == nil)
    #expect(Trace(requestID: nil, traceparent: "00-1-2-01").traceparent == nil)
  }

  @Test func timesAreWrittenAsTheFormatStyleWritesThem() {
    let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    var milliseconds = -86_400_000_000.0
    while milliseconds < 253_402_300_800_000 {
      let date = Date(timeIntervalSince1970: (milliseconds + 0.2) / 1000)
      #expect(RFC3339.milliseconds(date) == (date + 0.0005).formatted(fractional))
      #expect(RFC3339.seconds(date) == (date + 0.0005).formatted(.iso8601))
      milliseconds += 86_400_000 * 97 + 12_345_678
    }
    for (seconds, text) in [
      (951_782_399.9996, "2000-02-29T00:00:00.000Z"), (0, "1970-01-01T00:00:00.000Z"),
      (-0.001, "1969-12-31T23:59:59.999Z"),
      (253_402_300_799.999, "9999-12-31T23:59:59.999Z"), (4_107_542_399.5, "2100-02-28T23:59:59.500Z"),
    ] { #expect(RFC3339.milliseconds(Date(timeIntervalSince1970: seconds)) == text) }
  }

  @Test func ourOwnFormOfTimesIsReadAsTheFormatStyleReadsIt() throws {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    var milliseconds = -11_676_096_000_000.0
    // From 1600 to 9999 in irregular steps, across every kind of leap year.
    while milliseconds < 253_402_300_800_000 {
      let text = (Date(timeIntervalSince1970: milliseconds / 1000) + 0.0005).formatted(style)
      #expect(try RFC3339.parse(text) == style.parse(text).wholeMilliseconds, "\(text)")
      milliseconds += 86_400_000 * 397 + 12_345_678
    }
    for (text, seconds) in [
      ("2000-02-29T00:00:00Z", 951_782_400.0), ("1970-01-01T00:00:00.5Z", 0.5),
      ("2026-11-21T08:15:30.25Z", 1_795_248_930.25),
      // As PostgreSQL writes its own clock.
      ("1970-01-01T00:00:00.1234Z", 0.123), ("1970-01-01T00:00:00.123456Z", 0.123),
      ("1970-01-01T00:00:00.1235Z", 0.124), ("1970-01-01T23:59:59.999999Z", 86_400),
      ("1970-01-01T00:00:00.123499999Z", 0.123),
    ] {
      #expect(RFC3339.parse(text) == Date(timeIntervalSince1970: seconds), "\(text)")
    }
    for wrong in ["2026-13-01T00:00:00Z", "2026-11-21T08:15:30.Z", "2026-11-21t08:15:30Z", "2026-11-2xT08:15:30Z"] {
      #expect(RFC3339.parse(wrong) == nil, "\(wrong)")
    }
  }
}
