import Foundation
import Support
import Testing

@testable import Credits

/// Signatures of events, beside Stripe's own library.
@Suite struct StripeSignatureTests {
  private static let secret = "whsec_test_secret"
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func isValid(_ header: String, _ body: String, secrets: [String] = [secret], at now: Date = now) -> Bool {
    StripeSignature(secrets: secrets).isValid(header, of: Data(body.utf8), at: now)
  }

  private func signature(_ body: String, at seconds: Int, secret: String = secret) -> String {
    StripeSignature.signature(of: Data(body.utf8), at: seconds, secret: secret)
  }

  @Test func oneOfSeveralSignaturesUnderOneOfTwoSecretsIsEnough() {
    let good = signature("{}", at: 1_800_000_000)
    let next = signature("{}", at: 1_800_000_000, secret: "whsec_next")
    #expect(isValid("t=1800000000,v1=\(good)", "{}"))
    #expect(isValid("t=1800000000,v1=00,v0=11,v1=\(good)", "{}"))
    #expect(isValid("t=1800000000,v1=\(next)", "{}", secrets: [Self.secret, "whsec_next"]))
    #expect(!isValid("t=1800000000,v1=\(next)", "{}"))
    #expect(!isValid("t=1800000000,v1=\(good)", "{}", secrets: []))
    #expect(!isValid("t=1800000000,v0=\(good)", "{}"))
  }

  @Test func anEventIsAcceptedForFiveMinutes() {
    let header = "t=1800000000,v1=\(signature("{}", at: 1_800_000_000))"
    #expect(isValid(header, "{}", at: Self.now + 300))
    #expect(!isValid(header, "{}", at: Self.now + 301))
  }

  /// One header and body, as both sides judge it.
  private struct Sample: Codable {
    var header: String
    var body: String
  }

  private func samples() -> [Sample] {
    let bodies = [
      "{}", "{\"id\":\"evt_1\",\"text\":\"Grüße 🎈\"}", "", "line\nline", String(repeating: "x", count: 50_000),
    ]
    return bodies.flatMap { body in
      let good = signature(body, at: 1_800_000_000)
      let flipped = String(good.dropLast()) + (good.hasSuffix("0") ? "1" : "0")
      let old = signature(body, at: 1_799_999_699)
      return [
        "t=1800000000,v1=\(good)", "v1=\(good),t=1800000000", "t=1800000000,v1=\(flipped),v1=\(good)",
        "t=1800000000,v0=\(flipped),v1=\(good)", "t=1800000000,v1=\(flipped)", "t=1800000000,v0=\(good)",
        "t=1800000000,v1=\(good.uppercased())", "t=1800000001,v1=\(good)", "t=1799999699,v1=\(old)",
        "t=1800000000", "v1=\(good)", "", "t=,v1=\(good)", "t=now,v1=\(good)", "t=1800000000,v1=", "=", ",",
        "t=1800000000, v1=\(good)", "t=1800000000,v1=\(good)0", "t=1800000000,v1=\(good.dropLast())",
        "t=1800000000;v1=\(good)", "t=1800000000,v1=\(signature(body, at: 1_800_000_000, secret: "other"))",
        "t=1800000000,v1=\(signature(body + " ", at: 1_800_000_000))",
        "t=1800000300,v1=\(signature(body, at: 1_800_000_300))",
      ].map { Sample(header: $0, body: body) }
    }
  }

  private static let verifier = """
    import json, stripe, time
    time.time = lambda: 1800000000
    for sample in json.load(sys.stdin):
        try:
            stripe.WebhookSignature.verify_header(
                sample["body"], sample["header"], "whsec_test_secret", tolerance=300)
            print("good")
        except stripe.SignatureVerificationError:
            print("bad")
    """

  @Test(.enabled(if: Python.isAvailable)) func stripesLibraryAgreesOnWhatIsSigned() async throws {
    let samples = samples()
    let input = String(decoding: try JSONEncoder().encode(samples), as: UTF8.self)
    let verdicts = try await Python.run(Self.verifier, input: input).split(separator: "\n").map { $0 == "good" }
    try #require(verdicts.count == samples.count)
    for (sample, verdict) in zip(samples, verdicts) {
      #expect(isValid(sample.header, sample.body) == verdict, "\(sample.header) of \(sample.body.prefix(40))")
    }
    #expect(verdicts.count { $0 } == 25)
  }

  private static let signer = """
    import json, stripe
    for body in json.load(sys.stdin):
        print(stripe.WebhookSignature._compute_signature("1800000000." + body, "whsec_test_secret"))
    """

  @Test(.enabled(if: Python.isAvailable)) func whatStripesLibrarySignsIsAccepted() async throws {
    let bodies = Array(Set(samples().map(\.body))).sorted()
    let input = String(decoding: try JSONEncoder().encode(bodies), as: UTF8.self)
    let signatures = try await Python.run(Self.signer, input: input).split(separator: "\n")
    try #require(signatures.count == bodies.count)
    for (body, signature) in zip(bodies, signatures) {
      #expect(isValid("t=1800000000,v1=\(signature)", body))
      #expect(!isValid("t=1800000000,v1=\(signature)", body + "x"))
    }
  }
}
