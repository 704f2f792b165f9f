import Clients
import Database
import Foundation
import ServiceLifecycle
import Web
import Wire

/// The feed of what happens in a service: events are recorded in the transaction of the change that they report, and
/// delivered to the events service afterwards, at least once, in the order in which the changes of a topic were
/// committed.
///
/// The order within a topic comes from the lock that the topic's writers hold: the row of the list, group, collection
/// or account that they update. Events are inserted as the last statements of the transaction, when it holds all its
/// locks, so the second of two writers takes its position in the table after the first one has committed, and nobody
/// who sees the later event can miss the earlier one. Positions of writers that did not wait for each other may become
/// visible in another order; between those there is no order to keep. For the same reason a delivered event is deleted
/// by its position, and no position is remembered as the last one: an event with a lower position that is committed
/// later is delivered later.
///
/// Without `EVENTS_URL` nothing is recorded.
package struct EventFeed: Sendable {
  /// The service's database, whose transactions that write can record events.
  package let database: any Database
  /// Delivers the events.
  package let background: [any Service]
  /// nil where nothing is recorded.
  let grantDelivery: GrantDelivery?

  package static let migration = EventOutboxStore.migration
  /// In addition, for a service that is asked who may read its topics.
  package static let resetMigration = EventOutboxStore.resetMigration

  /// - Parameter database: has the tables of ``migration``.
  package init(_ database: any Database, in dependencies: Dependencies) {
    self.init(database, in: dependencies, limits: EventDeliveryLimits())
  }

  init(_ database: any Database, in dependencies: Dependencies, limits: EventDeliveryLimits) {
    guard dependencies.settings.nonempty("EVENTS_URL") != nil else {
      self.database = database
      background = []
      grantDelivery = nil
      return
    }
    let recorded = ChangeSignal()
    self.database = EventRecordingDatabase(inner: database, recorded: recorded)
    background = [
      EventDelivery(
        database: database, client: EventsClient(in: dependencies), recorded: recorded, in: dependencies,
        limits: limits)
    ]
    grantDelivery = GrantDelivery(database: database)
  }

  /// Records an event with the transaction of `db`. If that is rolled back there is no event.
  ///
  /// - Parameters:
  ///   - topics: whose readers may see all of the event, but for `hiddenFrom`; at most ``FeedEvent/topicsMax``.
  ///   - payload: evaluated only when events are delivered.
  ///   - change: of the row that the event is about.
  ///   - changes: of further rows. Those beyond ``FeedEvent/changesMax`` come with further events.
  ///   - access: who is let into a topic that has earlier events is `user`.
  ///   - hiddenFrom: readers of the topics who learn only that there was an event.
  ///   - push: what a notification of the event needs in addition.
  ///   - user: the user whose erasure withdraws the event while it is not delivered.
  ///   - id: given by a caller that may record the same event again; within a day it is stored once.
  package static func record(
    _ name: String, to topics: [String], _ payload: @autoclosure () -> EventFields,
    change: @autoclosure () -> EventChange? = nil, changes: @autoclosure () -> [EventChange] = [],
    access: @autoclosure () -> [AccessChange]? = nil, hiddenFrom: Set<UserID> = [], push: PushDetails? = nil,
    of user: UserID?, at now: Date, id: EventID? = nil, on db: any Connection
  ) {
    // Other connections are those of a service that delivers no events.
    guard let recording = db as? EventRecordingConnection, !topics.isEmpty else { return }
    let hiddenFrom = hiddenFrom.isEmpty ? nil : hiddenFrom.sorted { $0.description < $1.description }
    var changes = changes()[...]
    let event = NewEvent(
      id: id ?? .new(at: now), topics: topics, name: name, payload: payload(), at: now, change: change(),
      changes: changes.prefix(FeedEvent.changesMax), access: access(), hiddenFrom: hiddenFrom, push: push)
    recording.append(event, of: user)
    changes = changes.dropFirst(FeedEvent.changesMax)
    while !changes.isEmpty {
      let rest = NewEvent(
        id: .new(at: now), topics: topics, name: FeedEvent.rowsChanged, payload: [:], at: now,
        changes: changes.prefix(FeedEvent.changesMax), hiddenFrom: hiddenFrom)
      recording.append(rest, of: user)
      changes = changes.dropFirst(FeedEvent.changesMax)
    }
  }

  /// Whether events are recorded, for those that need further queries.
  package static func isRecording(on db: any Connection) -> Bool { db is EventRecordingConnection }

  /// Withdraws the events of a user that are not delivered yet, when the user's data is erased. Readers of their topics
  /// are told to read again (``reset``).
  package static func erase(_ user: UserID, at now: Date, on db: any Connection) throws {
    try EventOutboxStore.withdraw(EventOutboxStore.events(of: user, on: db), erasing: user, at: now, on: db)
  }

  /// The name of the event that takes the place of events which could not be delivered: whoever reads the topic has to
  /// read the thing itself again.
  package static let reset = "reset"
}
