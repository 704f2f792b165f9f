import Database
import Foundation
import Logging
import Outbox
import ServiceLifecycle
import Tokens
import Web
import Wire

/// Apple's notifications: stored when they are received, then processed once each, in any order.
struct AppleNotificationInbox: Service {
  private let store: AppleIdentityStore
  private let inbox: Outbox
  private let now: @Sendable () -> Date
  private static let kind = "apple_notice"

  init(
    store: AppleIdentityStore, keys: DataKeys, erasure: AccountErasure, ended: EndedSessionList,
    in dependencies: Dependencies
  ) {
    self.store = store
    let now = dependencies.now
    self.now = now
    let worker = AppleNotificationWorker(store: store, erasure: erasure, ended: ended, now: now)
    inbox = Outbox(
      "inbox", database: store.database, keys: keys, in: dependencies,
      deliveries: [Delivery(Self.kind) { message in try await worker.apply(message.decode()) }])
  }

  /// Safe to repeat: a notification is stored once by its id.
  func receive(_ notification: AppleNotification) async throws {
    let now = now()
    try await store.database.write { [inbox] db in
      let user = try AppleIdentityStore.account(of: notification.subject, on: db)
      try inbox.add(Self.kind, notification, deduplicationKey: notification.id, user: user, at: now, on: db)
    }
    inbox.wakeUp()
  }

  func run() async throws { try await inbox.run() }
}

/// The effects of notifications. Each is safe to repeat, as the process may stop before it is recorded as done.
private struct AppleNotificationWorker: Sendable {
  let store: AppleIdentityStore
  let erasure: AccountErasure
  let ended: EndedSessionList
  let now: @Sendable () -> Date

  func apply(_ notification: AppleNotification) async throws {
    let now = now()
    switch notification.kind {
    case .consentRevoked:
      for session in try await store.revokeConsent(of: notification.subject, at: notification.happenedAt, now: now) {
        ended.add(session.session, until: session.until)
      }
    case .accountDeleted:
      guard let user = try await store.removeDeleted(notification.subject) else { return }
      for session in try await erasure.request(for: user, at: now) ?? [] {
        ended.add(session.session, until: session.until)
      }
    case .emailDisabled, .emailEnabled:
      try await store.setEmail(
        of: notification.subject, isDisabled: notification.kind == .emailDisabled, since: notification.happenedAt)
    }
  }
}
