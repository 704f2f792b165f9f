import Crypto
import Foundation
import Support
import Testing
import Tokens
import X509

@testable import Credits

/// Our verifier and Apple's own library over the same 300 tokens, good and broken in every part.
@Suite(.enabled(if: Python.isAvailable)) struct AppleDifferentialTests {
  @Test func bothAgreeOnEveryToken() async throws {
    let tokens = try AppStoreTokens()
    let all = tokens.all
    #expect(all.count >= 300)
    let theirs = try await tokens.verdictsOfApple(on: all)
    #expect(theirs.count == all.count)
    var reasonsUsed: Set<String> = []
    for (token, isAcceptedByApple) in zip(all, theirs) {
      let isAccepted = await tokens.isAccepted(token)
      if let reason = token.appleIsLaxerBecause {
        reasonsUsed.insert(reason)
        #expect(isAcceptedByApple && !isAccepted, "\(token.name): \(reason)")
      } else {
        #expect(isAccepted == isAcceptedByApple, "\(token.name): Apple's library says \(isAcceptedByApple)")
        #expect(isAccepted == token.isGood, "\(token.name)")
      }
    }
    #expect(all.filter(\.isGood).count >= 60 && reasonsUsed.count == 5)
  }
}

/// Tokens of three kinds, in each of which one thing is wrong.
private struct AppStoreTokens {
  struct Token {
    let kind: String
    let name: String
    let text: String
    var isGood = false
    /// Why we refuse what Apple's library accepts.
    var appleIsLaxerBecause: String?
  }

  private let store: AppStore
  private let verifier: AppStoreVerifier
  private(set) var all: [Token] = []
  private var random = SeededRandom(seed: 4)
  private let now = Date()

  init() throws {
    let certificates = try AppStoreCertificates()
    store = AppStore(certificates: certificates, rootFile: "")
    verifier = AppStoreVerifier(
      certificates: CertificateChainVerifier(roots: [certificates.root]),
      apps: AppStoreApps(bundleIDs: [AppStore.bundleID], appIDs: [AppStore.appID], environments: [.production]))
    try addGood()
    try addWrongHeaders()
    try addWrongChains()
    try addWrongPayloads()
    try addWrongText()
  }

  func isAccepted(_ token: Token) async -> Bool {
    do {
      switch token.kind {
      case "transaction": _ = try await verifier.transaction(token.text)
      case "renewal": _ = try await verifier.renewal(token.text)
      default: _ = try await verifier.notification(token.text)
      }
      return true
    } catch { return false }
  }

  func verdictsOfApple(on tokens: [Token]) async throws -> [Bool] {
    let question: [String: Any] = [
      "root": Data(try AppStoreCertificates.der(store.certificates.root)).base64EncodedString(),
      "bundle_id": AppStore.bundleID, "app_id": AppStore.appID,
      "tokens": tokens.map { ["kind": $0.kind, "text": $0.text] },
    ]
    let input = String(decoding: try JSONSerialization.data(withJSONObject: question), as: UTF8.self)
    let printed = try await Python.run(Python.script("app_store_verdicts"), input: input)
    return try JSONDecoder().decode([Bool].self, from: Data(printed.utf8))
  }

  // MARK: Payloads

  private static let kinds = ["transaction", "renewal", "notification"]

  private func payload(_ kind: String, at time: Date? = nil) throws -> AppStore.Payload {
    let time = time ?? now
    switch kind {
    case "transaction": return AppStore.transaction("1", product: "a", for: nil, from: time, to: time + 60)
    case "renewal": return AppStore.renewal("1", product: "a", at: time)
    default:
      return [
        "notificationType": "DID_RENEW", "notificationUUID": "u-1", "version": "2.0",
        "signedDate": AppStore.milliseconds(time),
        "data": [
          "environment": "Production", "bundleId": AppStore.bundleID, "appAppleId": AppStore.appID, "status": 1,
        ] as AppStore.Payload,
      ]
    }
  }

  private mutating func add(
    _ name: String, _ kind: String, _ text: String, isGood: Bool = false, laxer reason: String? = nil
  ) {
    all.append(Token(kind: kind, name: "\(kind): \(name)", text: text, isGood: isGood, appleIsLaxerBecause: reason))
  }

  private mutating func addGood() throws {
    for kind in Self.kinds {
      for index in 0..<22 {
        var payload = try payload(kind, at: now - Double(index) * 86_400)
        payload["anUnknownMember"] = ["of": "the future \(index)"]
        add("good \(index)", kind, try store.sign(payload), isGood: true)
      }
    }
    // The second of the leaf's last day in which it is still valid.
    let end = store.certificates.leaf.notValidAfter
    for kind in Self.kinds {
      add("signed in the leaf's last second", kind, try store.sign(payload(kind, at: end)), isGood: true)
      add("signed a second after the leaf's end", kind, try store.sign(payload(kind, at: end + 1)))
      let begin = store.certificates.leaf.notValidBefore
      add("signed a second before the leaf's begin", kind, try store.sign(payload(kind, at: begin - 1)))
    }
  }

  private mutating func addWrongHeaders() throws {
    let chain = try store.certificates.chain
    let headers: [(String, AppStore.Payload)] = [
      ("alg none", ["alg": "none"]), ("alg ES384", ["alg": "ES384"]), ("alg HS256", ["alg": "HS256"]),
      ("alg RS256", ["alg": "RS256"]), ("alg es256", ["alg": "es256"]), ("alg empty", ["alg": ""]),
      ("alg a number", ["alg": 256]), ("an unknown crit", ["crit": ["x"], "x": 1]),
      ("a payload that is not encoded", ["b64": false, "crit": ["b64"]]), ("no certificates", ["x5c": [String]()]),
      ("one certificate", ["x5c": [chain[0]]]), ("two certificates", ["x5c": Array(chain[..<2])]),
      ("four certificates", ["x5c": chain + [chain[2]]]),
      ("the leaf alone, three times", ["x5c": [chain[0], chain[0], chain[0]]]),
      ("the intermediate as the leaf", ["x5c": [chain[1], chain[1], chain[2]]]),
      ("the root as the intermediate", ["x5c": [chain[0], chain[2], chain[2]]]),
      ("the chain backwards", ["x5c": Array(chain.reversed())]), ("certificates as a text", ["x5c": chain[0]]),
      ("an empty leaf", ["x5c": ["", chain[1], chain[2]]]),
      ("a cut leaf", ["x5c": [String(chain[0].dropLast(8)), chain[1], chain[2]]]),
    ]
    for kind in Self.kinds {
      for (name, header) in headers { add(name, kind, try store.sign(payload(kind), header: header)) }
      let other = try AppStoreCertificates().chain[2]
      add(
        "another root in the third place", kind,
        try store.sign(payload(kind), header: ["x5c": [chain[0], chain[1], other]]),
        laxer: "Apple's library does not look at the third certificate")
    }
  }

  private mutating func addWrongChains() throws {
    typealias Defects = AppStoreCertificates.Defects
    func years(_ from: Double, _ to: Double) -> ClosedRange<Date> { Defects.years(from, to) }
    let defects: [(String, (inout Defects) -> Void)] = [
      ("a leaf without its marker", { $0.leafIsMarked = false }),
      ("an intermediate without its marker", { $0.intermediateIsMarked = false }),
      ("an intermediate that is no authority", { $0.intermediateIsAuthority = false }),
      ("an intermediate that may not sign", { $0.intermediateMaySign = false }),
      ("a forged leaf", { $0.leafIsForged = true }), ("a forged intermediate", { $0.intermediateIsForged = true }),
      ("an expired leaf", { $0.leafValidity = years(-2, -1) }),
      ("a leaf of the future", { $0.leafValidity = years(1, 2) }),
      ("an expired intermediate", { $0.intermediateValidity = years(-2, -1) }),
      ("an unknown critical extension", { $0.leafHasUnknownCriticalExtension = true }), ("nothing wrong", { _ in }),
    ]
    for (name, change) in defects {
      var wrong = Defects()
      change(&wrong)
      // With another root the whole chain would be refused for that.
      let chain = try AppStoreCertificates(wrong, under: store.certificates)
      let signer = AppStore(certificates: chain, rootFile: "")
      for kind in Self.kinds {
        add(name, kind, try signer.sign(payload(kind)), isGood: name == "nothing wrong")
      }
    }
    let stranger = AppStore(certificates: try AppStoreCertificates(), rootFile: "")
    for kind in Self.kinds {
      add("another root", kind, try stranger.sign(payload(kind)))
      let chain = try store.certificates.chain
      add("another's signature below our chain", kind, try stranger.sign(payload(kind), header: ["x5c": chain]))
    }
  }

  private mutating func addWrongPayloads() throws {
    let members: [(String, String, (any Sendable)?)] = [
      ("bundleId", "another app", "com.example.stranger"), ("bundleId", "no app", nil),
      ("environment", "the sandbox", "Sandbox"), ("environment", "Xcode", "Xcode"),
      ("environment", "a local test", "LocalTesting"), ("environment", "an unknown environment", "Moon"),
      ("environment", "no environment", nil), ("appAppleId", "another id", 1), ("appAppleId", "no id", nil),
    ]
    for kind in Self.kinds {
      for (member, name, value) in members {
        if member == "appAppleId", kind != "notification" { continue }
        if member == "bundleId", kind == "renewal" { continue }
        var payload = try payload(kind)
        if kind == "notification" {
          var data = payload["data"] as? AppStore.Payload ?? [:]
          data[member] = value
          payload["data"] = data
        } else {
          payload[member] = value
        }
        add(name, kind, try store.sign(payload))
      }
      var payload = try payload(kind)
      payload["signedDate"] = nil
      add(
        "no time", kind, try store.sign(payload),
        laxer: "without a time the certificates cannot have been valid at it; Apple's library takes that of the clock")
    }
    for member in ["transactionId", "originalTransactionId", "productId", "purchaseDate"] {
      var payload = try payload("transaction")
      payload[member] = nil
      add(
        "no \(member)", "transaction", try store.sign(payload),
        laxer: "in Apple's models every member is optional; without this one a purchase cannot be recorded")
    }
    let inner = try AppStoreCertificates()
    var data = try payload("notification")["data"] as? AppStore.Payload ?? [:]
    data["signedTransactionInfo"] = try AppStore(certificates: inner, rootFile: "").sign(payload("transaction"))
    add(
      "a forged transaction inside", "notification",
      try store.sign(payload("notification").merging(["data": data]) { $1 }),
      laxer: "Apple's library leaves it to its caller to verify what is inside")
    data["signedTransactionInfo"] = try store.sign(payload("transaction"))
    add(
      "a good transaction inside", "notification",
      try store.sign(payload("notification").merging(["data": data]) { $1 }),
      isGood: true)
  }

  private mutating func addWrongText() throws {
    for kind in Self.kinds {
      let good = try store.sign(payload(kind))
      let parts = good.split(separator: ".").map(String.init)
      add("empty", kind, "")
      add("two parts", kind, parts[..<2].joined(separator: "."))
      add("four parts", kind, good + "." + parts[2])
      add("no signature", kind, parts[..<2].joined(separator: ".") + ".")
      add("a short signature", kind, String(good.dropLast(8)))
      add("a long signature", kind, good + "AAAA")
      for (index, name) in ["the header", "the payload", "the signature"].enumerated() {
        for _ in 0..<8 {
          var bytes = Base64URL.decode(Array(parts[index].utf8)) ?? []
          let position = Int.random(in: bytes.indices, using: &random)
          bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
          var changed = parts
          changed[index] = Base64URL.encode(bytes)
          add("a flipped bit in byte \(position) of \(name)", kind, changed.joined(separator: "."))
        }
      }
      for json in ["{", "[]", "null", "1", "\"a\"", "{\"a\":1}", ""] {
        add("the payload \(json)", kind, try signed(payload: json), laxer: nil)
      }
      add(
        "padding", kind, good + "==",
        laxer: "base64url has no padding (RFC 7515 §2); two texts for one token would be two events")
    }
  }

  private func signed(payload: String) throws -> String {
    let parts = try store.sign([:]).split(separator: ".")
    let message = "\(parts[0]).\(Base64URL.encode(Array(payload.utf8)))"
    let signature = try store.certificates.key.signature(for: SHA256.hash(data: Data(message.utf8)))
    return "\(message).\(Base64URL.encode(signature.rawRepresentation))"
  }
}
