import Database
import Foundation
import Testing

@testable import EventFeed

/// Which events are delivered together.
@Suite struct EventBatchTests {
  private func events(_ count: Int, bytes: Int = 100) throws -> [RecordedEvent] {
    try (0..<count).map { number in
      try RecordedEvent(
        Row(
          columns: ["position", "event", "recorded_at"],
          values: [
            number.binding, String(repeating: "a", count: bytes).binding,
            Date(timeIntervalSince1970: 1_790_000_000).binding,
          ]))
    }
  }

  /// Statements are for 1, 2, 4, … 64 rows: of 32 or more, those that would take further statements wait for the next
  /// delivery.
  @Test(arguments: [
    (1, 1), (31, 31), (32, 32), (37, 32), (63, 32), (64, 64), (75, 64), (127, 96), (128, 128), (500, 480),
  ])
  func manyAreDeliveredByFewStatements(waiting: Int, taken: Int) throws {
    #expect(try EventDeliveryLimits().cut(events(waiting)).count == taken)
  }

  @Test func aDeliveryHasABoundOfBytesAndAtLeastOneEvent() throws {
    let limits = EventDeliveryLimits()
    #expect(try limits.cut(events(5, bytes: limits.batchBytesMax / 2)).count == 2)
    #expect(try limits.cut(events(5, bytes: limits.batchBytesMax + 1)).count == 1)
    #expect(limits.cut([]).isEmpty)
  }

  /// No pause where a delivery was cut by its bytes, or where as many wait as are read at once.
  @Test func whileMoreThanADeliveryWaitsThereIsNoPause() {
    let limits = EventDeliveryLimits()
    #expect(limits.isMore(than: 5, of: 20))
    #expect(limits.isMore(than: 64, of: 200))
    #expect(limits.isMore(than: limits.batchMax, of: limits.batchMax))
    for (taken, waiting) in [(0, 0), (20, 20), (32, 37), (64, 75)] {
      #expect(!limits.isMore(than: taken, of: waiting), "\(taken) of \(waiting)")
    }
  }
}
