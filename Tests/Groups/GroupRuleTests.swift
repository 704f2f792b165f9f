import Database
import Foundation
import Support
import Testing
import Wire

@testable import Groups

/// Validation of a group's fields, its days, and invite codes.
@Suite struct GroupRuleTests {
  private func group(_ zone: String) throws -> Group {
    Group(
      id: .new(at: Date()), name: "Ours", description: nil, inviteCode: "ABCDEFGH",
      timeZone: try GroupFields.timeZone(zone), memberCount: 1, memberCountMax: 12, createdBy: nil, createdAt: Date())
  }

  @Test(arguments: [
    ("UTC", "2026-11-21T23:59:59Z", "2026-11-21"), ("UTC", "2026-11-22T00:00:00Z", "2026-11-22"),
    ("Europe/Oslo", "2026-11-21T22:59:59Z", "2026-11-21"), ("Europe/Oslo", "2026-11-21T23:00:00Z", "2026-11-22"),
    ("Pacific/Kiritimati", "2026-11-21T10:00:00Z", "2026-11-22"),
    ("America/Los_Angeles", "2026-11-21T07:59:59Z", "2026-11-20"),
    // Daylight saving time begins at 1:00 UTC on 29 March and ends at 1:00 UTC on 25 October: days of 23 and of 25
    // hours.
    ("Europe/Oslo", "2026-03-28T22:59:59Z", "2026-03-28"), ("Europe/Oslo", "2026-03-28T23:00:00Z", "2026-03-29"),
    ("Europe/Oslo", "2026-03-29T21:59:59Z", "2026-03-29"), ("Europe/Oslo", "2026-03-29T22:00:00Z", "2026-03-30"),
    ("Europe/Oslo", "2026-10-24T22:00:00Z", "2026-10-25"), ("Europe/Oslo", "2026-10-25T22:59:59Z", "2026-10-25"),
    ("Europe/Oslo", "2026-10-25T23:00:00Z", "2026-10-26"),
    // Daylight saving time begins at midnight, so that the day begins at 1:00.
    ("America/Santiago", "2026-09-06T03:59:59Z", "2026-09-05"),
    ("America/Santiago", "2026-09-06T04:00:00Z", "2026-09-06"),
  ])
  func aDayIsTheOneOnTheGroupsOwnCalendar(zone: String, time: String, day: String) throws {
    let instant = try #require(RFC3339.parse(time))
    #expect(try group(zone).day(at: instant) == day)
  }

  @Test(arguments: ["", "Mars/Olympus", "GMT+3", "utc", "Europe", "CET"]) func zonesHaveIANANames(name: String) {
    #expect(throws: Failure.self) { try GroupFields.timeZone(name) }
  }

  @Test(arguments: ["UTC", "Europe/Oslo", "America/Argentina/Buenos_Aires", "Etc/UTC"])
  func zonesKeepTheirNames(name: String) throws {
    let zone = try GroupFields.timeZone(name)
    #expect(try GroupFields.timeZone(zone.name) == zone)
  }

  @Test func codesLookLikeCodesAndDiffer() {
    let codes = Set((0..<1000).map { _ in GroupCode.new(isLimited: true) })
    #expect(codes.count == 1000)
    #expect(codes.allSatisfy { $0.wholeMatch(of: /[A-HJ-NP-Z2-9]{8}/) != nil })
    let short = Set((0..<1000).map { _ in GroupCode.new(isLimited: false) })
    #expect(short.count > 990)
    #expect(short.allSatisfy { $0.wholeMatch(of: /[A-HJ-NP-Z2-9]{6}/) != nil })
  }

  @Test func anHeirsNameStaysWithinBounds() {
    let long = String(repeating: "x", count: 120)
    #expect(Collection.name(long, attempt: 1) == long)
    #expect(Collection.name(long, attempt: 12).count == 120)
    #expect(Collection.name("Marbles", attempt: 2) == "Marbles (2)")
  }
}
