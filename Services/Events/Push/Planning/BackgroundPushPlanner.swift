import Database
import Foundation
import Outbox
import Wire

/// Wakes the apps of those who were away while others changed their lists, without an alert, so that they read the
/// lists again. The changes of a minute are taken together, and a device is woken up at most every twenty minutes, as
/// Apple delivers two or three such notifications an hour: the last change is told at the end of that time.
struct BackgroundPushPlanner: Sendable {
  let database: any Database
  let outbox: Outbox
  let audience: PushAudience
  let now: @Sendable () -> Date

  static let intervalSeconds = 20 * 60.0
  private static let minute = 60.0
  private static let batchSize = 50

  var delivery: Delivery {
    Delivery(ListChangedMessage.kind, giveUpAfter: .seconds(3600)) { message in
      try await plan(try message.decode(ListChangedMessage.self))
    }
  }

  /// Writes the lists that were changed to the inbox, in the transaction in which the events are appended.
  static func add(
    changesOfLists events: [EncodedFeedEvent], to inbox: Outbox, at now: Date, on db: any Connection
  ) throws {
    var noted: Set<ListChangedMessage> = []
    // What comes with further rows follows the event that says who has made the change.
    for event in events where event.name != FeedEvent.rowsChanged {
      for topic in event.topics where TopicName(topic)?.kind == .lists {
        let message = ListChangedMessage(topic: topic, actor: try event.causer)
        guard noted.insert(message).inserted else { continue }
        let number = Int(now.timeIntervalSince1970 / minute)
        try inbox.add(
          ListChangedMessage.kind, message,
          deduplicationKey: "\(topic) \(message.actor?.description ?? "") \(number)",
          due: Date(timeIntervalSince1970: Double(number + 1) * minute), at: now, on: db)
      }
    }
  }

  /// Safe to repeat.
  private func plan(_ change: ListChangedMessage) async throws {
    let readers = try await audience.readers(of: change.topic).filter { $0 != change.actor }
    let away = try await audience.away(from: [change.topic], among: readers)
      .sorted { $0.description < $1.description }
    let now = now()
    // A bounded number of rows is locked at a time.
    for start in stride(from: 0, to: away.count, by: Self.batchSize) {
      let users = away[start...].prefix(Self.batchSize)
      let count = try await database.write { db in
        try users.reduce(0) { count, user in try count + wake(user, at: now, on: db) }
      }
      if count > 0 { outbox.wakeUp() }
    }
  }

  /// - Returns: how many messages were written.
  private func wake(_ user: UserID, at now: Date, on db: any Connection) throws -> Int {
    guard try DeviceStore.hasDevices(user, on: db) else { return 0 }
    // Locks the row, so that two changes at once find what the other has written.
    try AlertStore.lock(user, on: db)
    guard try PreferenceStore.preference(of: user, on: db).isPushEnabled else { return 0 }
    var count = 0
    for device in try DeviceStore.pushed(of: user, signedOutAfter: nil, on: db) {
      let wokenAt = device.wokenAt ?? .distantPast
      // It is going to be told.
      guard wokenAt <= now else { continue }
      let due = max(now, wokenAt + Self.intervalSeconds)
      try DeviceStore.setWoken(device.id, at: due, on: db)
      try outbox.add(
        BackgroundPushMessage.kind, BackgroundPushMessage(device: device.id, user: user, at: due),
        deduplicationKey: "\(device.id) \(Int(due.timeIntervalSince1970 * 1000))", user: user, due: due, at: now,
        on: db)
      count += 1
    }
    return count
  }
}

extension EncodedFeedEvent {
  /// Who has made the change, as far as the payload says so.
  fileprivate var causer: UserID? {
    get throws {
      guard case .string(let text) = try payloadValue()["by"] else { return nil }
      return UserID(text)
    }
  }
}
