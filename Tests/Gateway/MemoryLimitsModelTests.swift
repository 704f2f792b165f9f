import Gateway
import Support
import Testing

/// Limits in memory against a model that keeps all requests and precomputes nothing.
@Suite struct MemoryLimitsModelTests {
  @Test(arguments: 0..<20)
  func everyVerdictIsTheModels(round: Int) {
    for schedule in 0..<25 {
      var random = SeededRandom(seed: UInt64(round * 1000 + schedule))
      let keys = (0..<Int.random(in: 1...12, using: &random)).map(userKey)
      let quotas = keys.map { _ in Quota(perMinute: [1, 2, 3, 7, 10, 30].randomElement(using: &random) ?? 1) }
      // Exactly as many keys as are never removed within a minute.
      let limits = MemoryLimits(entriesMax: keys.count * 2)
      var models = quotas.map { TokenBucketModel(perMinute: Int64($0.perMinute)) }
      var now = Int64.random(in: -100 * second...100 * second, using: &random)
      for _ in 0..<120 {
        now += pause(quotas, &random)
        let who = Int.random(in: keys.indices, using: &random)
        let verdict = limits.take(keys[who], quotas[who], at: now)
        let expected = models[who].take(at: now)
        guard ExpectedVerdict(verdict) == expected else {
          Issue.record("round \(round), schedule \(schedule): \(verdict) is not \(expected)")
          return
        }
      }
    }
  }

  /// Often just at a boundary, often zero, sometimes longer than a generation.
  private func pause(_ quotas: [Quota], _ random: inout SeededRandom) -> Int64 {
    let interval = 60 * second / Int64(quotas.randomElement(using: &random)?.perMinute ?? 1)
    return switch Int.random(in: 0..<10, using: &random) {
    case 0...3: 0
    case 4: interval
    case 5: interval - 1
    case 6: 1
    case 7: Int64.random(in: 0...interval, using: &random)
    case 8: Int64.random(in: 0...10 * second, using: &random)
    default: Int64.random(in: 0...200 * second, using: &random)
    }
  }

  /// Removing entries may only allow more, never less.
  @Test(arguments: 0..<20)
  func beyondItsCapacityItIsNeverStricterThanTheModel(round: Int) {
    var random = SeededRandom(seed: UInt64(round))
    let limits = MemoryLimits(entriesMax: 8)
    let quota = Quota(perMinute: 5)
    var models = (0..<40).map { _ in TokenBucketModel(perMinute: 5) }
    var now: Int64 = 0
    var refusals = 0
    for _ in 0..<1000 {
      now += Int64.random(in: 0...second / 20, using: &random)
      // A few keys send all the time, the others now and then.
      let who = Int.random(in: 0..<(Bool.random(using: &random) ? 3 : 40), using: &random)
      let verdict = limits.take(userKey(who), quota, at: now)
      if verdict.isAllowed { models[who].grant(at: now) } else { refusals += 1 }
      if models[who].allows(at: now) { #expect(verdict.isAllowed) }
      #expect(limits.count <= 8)
    }
    #expect(refusals > 20, "nothing was limited, so nothing was tested")
  }

  /// At any point in the life of a generation.
  @Test(arguments: [0, 1, 30 * second, 60 * second - 1, 60 * second, 90 * second])
  func nobodyIsForgottenWithinAMinuteWhileThereIsRoom(start: Int64) {
    let limits = MemoryLimits(entriesMax: 2002)
    let quota = Quota(perMinute: 1)
    _ = limits.take(userKey(1000), quota, at: 0)
    for who in 0..<1000 { #expect(limits.take(userKey(who), quota, at: start).isAllowed) }
    for who in 0..<1000 { #expect(!limits.take(userKey(who), quota, at: start + 60 * second - 1).isAllowed) }
    for who in 0..<1000 { #expect(limits.take(userKey(who), quota, at: start + 60 * second).isAllowed) }
  }

  @Test func whoStaysAwayIsForgotten() {
    let limits = MemoryLimits(entriesMax: 2000)
    let quota = Quota(perMinute: 10)
    for who in 0..<500 { _ = limits.take(userKey(who), quota, at: 0) }
    #expect(limits.count == 500)
    _ = limits.take(userKey(1), quota, at: 61 * second)
    #expect(limits.count >= 500, "they may still be counted for a minute")
    _ = limits.take(userKey(1), quota, at: 122 * second)
    #expect(limits.count <= 2)
    for who in 0..<500 { _ = limits.take(userKey(who), quota, at: 200 * second) }
    _ = limits.take(userKey(1), quota, at: 500 * second)
    #expect(limits.count == 1)
  }

  @Test(arguments: [2, 64, 1000, 100_000])
  func aFloodOfAddressesNeverTakesMoreThanItsRoom(entriesMax: Int) {
    let limits = MemoryLimits(entriesMax: entriesMax)
    let quota = Quota(perMinute: 10)
    for who in 0..<300_000 {
      _ = limits.take(userKey(who), quota, at: Int64(who))
      if who % 10_000 == 0 { #expect(limits.count <= entriesMax) }
    }
    #expect(limits.count <= entriesMax)
    #expect(limits.count >= entriesMax / 3, "most of the room is of use")
  }

  @Test func whoIsBusyDuringAFloodIsStillLimited() {
    let limits = MemoryLimits(entriesMax: 1000)
    let quota = Quota(perMinute: 10)
    var allowed = 0
    for who in 0..<100_000 {
      _ = limits.take(userKey(who + 1), quota, at: 0)
      if who % 100 == 0, limits.take(userKey(0), quota, at: 0).isAllowed { allowed += 1 }
    }
    #expect(allowed == 10)
  }

  @Test func ofFiftyAtOnceExactlyTheQuotaPasses() async throws {
    let limits = MemoryLimits()
    let quota = Quota(perMinute: 10)
    for who in 0..<50 {
      let verdicts = try await atOnce(50) { _ in limits.take(userKey(who), quota, at: 0) }
      #expect(verdicts.filter(\.isAllowed).map(\.remaining).sorted() == Array(0..<10))
      #expect(verdicts.filter { !$0.isAllowed }.count == 40)
    }
  }
}

/// The part of a verdict that the model can predict.
private struct ExpectedVerdict: Equatable {
  let isAllowed: Bool
  let remaining: Int64
  let resetAfter: Int64
  let retryAfter: Int64
}

extension ExpectedVerdict {
  fileprivate init(_ verdict: LimitVerdict) {
    self.init(
      isAllowed: verdict.isAllowed, remaining: Int64(verdict.remaining), resetAfter: verdict.resetAfter,
      retryAfter: verdict.retryAfter)
  }
}

/// The definition of a token bucket without a bucket: with n tokens and one more every T, the requests since any
/// earlier one are allowed if there are at most n, and one for each T since then.
private struct TokenBucketModel {
  private let limit: Int64
  private let interval: Int64
  private var grants: [Int64] = []

  init(perMinute: Int64) {
    limit = perMinute
    interval = 60 * second / perMinute
  }

  mutating func take(at now: Int64) -> ExpectedVerdict {
    let isAllowed = allows(at: now)
    let wait = isAllowed ? 0 : wait(for: 1, at: now)
    if isAllowed { grant(at: now) }
    // The quota is full again when as many requests as it ever allows would be allowed at once.
    return ExpectedVerdict(
      isAllowed: isAllowed, remaining: (0...limit).last { self.wait(for: $0, at: now) == 0 } ?? 0,
      resetAfter: self.wait(for: limit, at: now), retryAfter: wait)
  }

  func allows(at now: Int64) -> Bool { wait(for: 1, at: now) == 0 }

  mutating func grant(at now: Int64) {
    if wait(for: limit, at: now) == 0 { grants = [] }
    grants.append(now)
  }

  /// How long until `count` more requests would be allowed at once.
  private func wait(for count: Int64, at now: Int64) -> Int64 {
    guard count > 0 else { return 0 }
    var longest: Int64 = 0
    for (index, since) in grants.enumerated() {
      let all = Int64(grants.count - index) + count
      longest = max(longest, (all - limit) * interval - (now - since))
    }
    return longest
  }
}

private func userKey(_ number: Int) -> LimitKey { .user(UInt128(number), .user) }
