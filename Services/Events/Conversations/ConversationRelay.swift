import Database
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Web
import Wire

/// Passes messages between replicas that share a PostgreSQL database, by its notifications. These hold less than 8000
/// bytes; longer messages are rows, of which the notification has the id. With SQLite there is one process.
final class ConversationRelay: Service {
  static let notifications = "kith_conversations"

  /// A message as replicas send it to each other.
  private struct Relayed: Codable, Sendable {
    let replica: String
    /// Of the row with the message, which is then not here.
    var row: EventID?
    var topic: String?
    var event: String?
    var json: String?
    var binary: Data?
    var presence: String?

    /// Without what surrounds the content, which is short.
    var bytes: Int { (json?.utf8.count ?? 0) + (binary?.count ?? 0) + (presence?.utf8.count ?? 0) }
  }

  let replica = Trace.newRequestID()
  private let database: any Database
  private let logger: Logger
  private let now: @Sendable () -> Date
  /// Called with the number of messages that do not reach other replicas.
  let lost: @Sendable (Int) -> Void
  private let waiting = Mutex(RelayQueue<Relayed>(countMax: 10_000, bytesMax: 16 * 1024 * 1024))
  private let signal = ChangeSignal()
  private static let batchSize = 64
  /// Of a notification; PostgreSQL's limit is 7999.
  private static let bytesMax = 7800

  init(
    database: any Database, logger: Logger, now: @escaping @Sendable () -> Date,
    lost: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.database = database
    self.logger = logger
    self.now = now
    self.lost = lost
  }

  /// Sends a message to the other replicas. When the database is away, messages are dropped beyond a bound, as nobody
  /// waits for them.
  func send(_ message: ConversationMessage) {
    guard database.engine == .postgres else { return }
    var relayed = Relayed(replica: replica, topic: message.topic)
    switch message.content {
    case .broadcast(let event, .json(let text)): (relayed.event, relayed.json) = (event, text)
    case .broadcast(let event, .binary(let data)): (relayed.event, relayed.binary) = (event, data)
    case .presence(let diff): relayed.presence = diff
    }
    let leftOut = waiting.withLock { $0.append(relayed, bytes: relayed.bytes) }
    if leftOut > 0 { lost(leftOut) }
    signal.send()
  }

  func run() async throws {
    await cancelWhenGracefulShutdown { [self] in
      while !Task.isCancelled {
        let version = signal.version
        while let batch = waiting.withLock({ $0.next(Self.batchSize) }) { await notify(batch) }
        await signal.wait(after: version)
      }
    }
  }

  private func notify(_ batch: [Relayed]) async {
    let (replica, now) = (replica, now())
    do {
      try await database.write { db in
        for message in batch {
          var text = String(decoding: try JSON.encodeExact(message), as: UTF8.self)
          if text.utf8.count > Self.bytesMax {
            let id = EventID.new(at: now)
            try db.enqueue(
              "insert into conversation_message (id, body, created_at) values (\(id), \(text), \(now))")
            text = String(decoding: try JSON.encodeExact(Relayed(replica: replica, row: id)), as: UTF8.self)
          }
          try db.enqueue("select pg_notify(\(Self.notifications), \(text))")
        }
      }
    } catch {
      guard !Task.isCancelled else { return }
      lost(batch.count)
      logger.warning("messages were not relayed", metadata: ["count": "\(batch.count)", "error": "\(error)"])
    }
  }

  /// The message of a notification of another replica; nil for one of this process, and for a row that is gone.
  func message(of notification: String) async throws -> ConversationMessage? {
    let relayed = try JSON.decode(Relayed.self, from: Data(notification.utf8))
    guard relayed.replica != replica else { return nil }
    guard let id = relayed.row else { return Self.message(relayed) }
    let row = try await database.readOnce { try $0.row("select body from conversation_message where id = \(id)") }
    guard let row else { return nil }
    return Self.message(try JSON.decode(Relayed.self, from: Data(try row.get("body", as: String.self).utf8)))
  }

  private static func message(_ relayed: Relayed) -> ConversationMessage? {
    guard let topic = relayed.topic else { return nil }
    if let presence = relayed.presence { return ConversationMessage(topic: topic, .presence(presence)) }
    guard let event = relayed.event else { return nil }
    let content = relayed.binary.map(BroadcastContent.binary) ?? relayed.json.map(BroadcastContent.json)
    return content.map { ConversationMessage(topic: topic, .broadcast(event: event, $0)) }
  }
}
