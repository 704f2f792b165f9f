import Gateway
import NIOCore
import Support
import Testing
import Web
import Wire

let second: Int64 = 1_000_000_000
let millisecond: Int64 = 1_000_000

/// GCRA, quotas and rate limit headers, to the nanosecond.
@Suite struct LimitTests {
  private static let start: Int64 = 1_234_567_890_123_456_789

  @Test(arguments: [1, 2, 7, 10, 60, 997, 100_000])
  func theWholeQuotaPassesAtOnceAndNotOneMore(perMinute: Int) {
    let quota = Quota(perMinute: perMinute)
    var tat: Int64?
    for used in 1...perMinute {
      let (verdict, next) = GCRA.take(from: tat, quota: quota, at: Self.start)
      #expect(verdict.isAllowed && verdict.remaining == perMinute - used && verdict.limit == perMinute)
      #expect(verdict.retryAfter == 0)
      tat = next
    }
    let (verdict, unmoved) = GCRA.take(from: tat, quota: quota, at: Self.start)
    #expect(!verdict.isAllowed && verdict.remaining == 0)
    #expect(unmoved == tat, "a refusal costs nothing")
    #expect(verdict.resetAfter <= 60 * second && verdict.resetAfter > 60 * second - Int64(perMinute))
  }

  @Test(arguments: [1, 2, 7, 10, 60, 997, 100_000, 1_000_000_000])
  func oneMorePassesWhenRetryAfterIsOverAndNotBefore(perMinute: Int) {
    let quota = Quota(perMinute: perMinute)
    let interval = 60 * second / Int64(perMinute)
    let used = Self.start + interval * Int64(perMinute)
    let refusal = GCRA.take(from: used, quota: quota, at: Self.start).verdict
    #expect(!refusal.isAllowed && refusal.retryAfter == interval)
    let early = GCRA.take(from: used, quota: quota, at: Self.start + interval - 1).verdict
    #expect(!early.isAllowed && early.retryAfter == 1)
    let (late, next) = GCRA.take(from: used, quota: quota, at: Self.start + interval)
    #expect(late.isAllowed && late.remaining == 0)
    #expect(!GCRA.take(from: next, quota: quota, at: Self.start + interval).verdict.isAllowed)
  }

  @Test func theQuotaIsWholeAfterTheResetAndNotBefore() {
    let quota = Quota(perMinute: 10)
    let (first, tat) = GCRA.take(from: nil, quota: quota, at: Self.start)
    #expect(first.remaining == 9 && first.resetAfter == 6 * second)
    #expect(GCRA.take(from: tat, quota: quota, at: Self.start + 6 * second - 1).verdict.remaining == 8)
    #expect(GCRA.take(from: tat, quota: quota, at: Self.start + 6 * second).verdict.remaining == 9)
  }

  @Test func aClockThatGoesBackCostsAMinuteAtMost() {
    let quota = Quota(perMinute: 10)
    let (verdict, tat) = GCRA.take(from: Self.start, quota: quota, at: Self.start - 3600 * second)
    #expect(!verdict.isAllowed && verdict.resetAfter == 60 * second && verdict.retryAfter == 6 * second)
    #expect(GCRA.take(from: tat, quota: quota, at: Self.start - 3600 * second + 6 * second).verdict.isAllowed)
  }

  @Test(arguments: [Int64.min, -1, 0, 1, .max - 1, .max], [nil, Int64.min, -1, 0, 1, .max])
  func noTimeIsTooOddToCount(now: Int64, tat: Int64?) {
    for perMinute in [1, 100, 1_000_000_000] {
      let quota = Quota(perMinute: perMinute)
      let (verdict, next) = GCRA.take(from: tat, quota: quota, at: now)
      #expect((0...60 * second).contains(verdict.resetAfter) && (0...60 * second).contains(verdict.retryAfter))
      #expect((0..<perMinute).contains(verdict.remaining) && next >= now)
    }
  }

  @Test func settingsSayTheQuotasAndWhatIsNoNumberStopsTheStart() throws {
    let plain = try LimitQuotas(Settings([:]))
    #expect(LimitClass.allCases.map { plain[$0].perMinute } == [10, 30, 60, 100, 20, 50, 30, 600, 300, 6000, 60])
    let names: [(String, LimitClass)] = [
      ("RATE_LIMIT_SIGN_IN", .signIn), ("RATE_LIMIT_REFRESH", .refresh), ("RATE_LIMIT", .anonymous),
      ("RATE_LIMIT_USER", .user), ("RATE_LIMIT_UPLOAD", .upload), ("RATE_LIMIT_SEARCH", .search),
      ("RATE_LIMIT_PHOTO", .photo), ("RATE_LIMIT_SOCKET", .socket),
      ("RATE_LIMIT_WEBHOOK", .webhook),
    ]
    for (name, limit) in names {
      let changed = try LimitQuotas(Settings([name: "1000000000"]))
      for other in LimitClass.allCases {
        let isMeant = other == limit || limit == .anonymous && other == .refused
        #expect(changed[other].perMinute == (isMeant ? 1_000_000_000 : plain[other].perMinute))
      }
      for wrong in ["0", "-1", "1000000001", "many", "1.5", "99999999999999999999"] {
        let failure = #expect(throws: StartFailure.self) { try LimitQuotas(Settings([name: wrong])) }
        #expect(failure?.description.hasPrefix("\(name) ") == true)
      }
    }
  }

  @Test func usersAreCountedByWhoTheyAreAndStrangersByWhereTheyAre() throws {
    let alice = try #require(UserID("01890a5d-ac96-774b-bcce-b302099a8057"))
    let home = try #require(IPAddress("2001:db8:1:2::a"))
    let sofa = try #require(IPAddress("2001:db8:1:2:ffff::b"))
    let cafe = try #require(IPAddress("2001:db8:1:3::a"))
    #expect(LimitKey(nil, user: alice, address: home) == .user(alice, .user))
    #expect(LimitKey(nil, user: alice, address: home) == .user(0x0189_0a5d_ac96_774b_bcce_b302_099a_8057, .user))
    #expect(LimitKey(nil, user: alice, address: home) != LimitKey(.upload, user: alice, address: home))
    #expect(LimitKey(nil, user: nil, address: home) == .address(home, .anonymous))
    #expect(LimitKey(.search, user: nil, address: home) == .address(home, .search))
    // Signing in is limited by address even for signed-in users.
    #expect(LimitKey(.signIn, user: alice, address: home) == .address(home, .signIn))
    #expect(LimitKey.address(home, .signIn) == .address(sofa, .signIn), "one /64 is one household")
    #expect(LimitKey.address(home, .signIn) != .address(cafe, .signIn))
    let neighbours = try ["192.0.2.1", "192.0.2.2"].map { LimitKey.address(try #require(IPAddress($0)), .signIn) }
    #expect(neighbours[0] != neighbours[1])
    // So are links to photos, which need no token.
    #expect(LimitKey(.photo, user: alice, address: home) == .address(home, .photo))
    #expect(LimitKey(.socket, user: alice, address: home) == .user(alice, .socket))
    #expect(LimitKey(.socket, user: nil, address: home) == .address(home, .socket))
    // The same 128 bits as a user and as an address are different keys.
    #expect(LimitKey.user(UInt128(0x2001_0db8_0001_0002) << 64, .user) != .address(home, .user))
  }

  @Test func theHeadersSayWhatTheVerdictSays() throws {
    let quota = Quota(perMinute: 100)
    let epoch = 1_700_000_000 * second + 500 * millisecond
    let (verdict, _) = GCRA.take(from: nil, quota: quota, at: 0)
    var buffer = ByteBuffer()
    verdict.writeHeaders(to: &buffer, class: nil, isUser: true, epoch: epoch)
    #expect(
      String(buffer: buffer) == """
        ratelimit-policy: "user";q=100;w=60\r
        ratelimit: "user";r=99;t=1\r
        x-ratelimit-limit: 100\r
        x-ratelimit-remaining: 99\r
        x-ratelimit-reset: 1700000002\r\n
        """)
    let refusal = GCRA.take(from: 60 * second, quota: quota, at: 0).verdict
    let headers = refusal.headers(class: .signIn, isUser: false, epoch: epoch)
    #expect(
      headers.map { "\($0.name): \($0.value)" } == [
        #"ratelimit-policy: "sign-in";q=100;w=60"#, #"ratelimit: "sign-in";r=0;t=60"#, "x-ratelimit-limit: 100",
        "x-ratelimit-remaining: 0", "x-ratelimit-reset: 1700000061", "retry-after: 1",
      ])
    #expect(!verdict.headers(class: nil, isUser: false).contains { $0.name == "retry-after" })
  }

  @Test(arguments: LimitClass.allCases, [1, 1_000_000_000])
  func bothFormsOfTheHeadersAgree(limit: LimitClass, perMinute: Int) {
    for epoch in [0, 1_700_000_000 * second, Int64.max] {
      let verdict = GCRA.take(from: nil, quota: Quota(perMinute: perMinute), at: 0).verdict
      var buffer = ByteBuffer()
      verdict.writeHeaders(to: &buffer, class: limit, isUser: false, epoch: epoch)
      let lines = verdict.headers(class: limit, isUser: false, epoch: epoch).map { "\($0.name): \($0.value)\r\n" }
      #expect(String(buffer: buffer) == lines.joined())
    }
  }

  @Test(arguments: [(1, 60), (2, 30), (7, 9), (10, 6), (100, 1), (1_000_000_000, 1)])
  func retryAfterIsRoundedUpToWholeSecondsAndAtLeastOne(perMinute: Int, seconds: Int) {
    let quota = Quota(perMinute: perMinute)
    #expect(GCRA.take(from: .max, quota: quota, at: 0).verdict.retryAfterSeconds == seconds)
  }
}
