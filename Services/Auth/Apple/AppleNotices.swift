import Database
import Foundation
import Logging
import Outbox
import ServiceLifecycle
import Tokens
import Web
import Wire

/// Apple's notices: stored when they come, worked on afterwards, each of them once and in any order.
struct AppleNotices: Service {
  private let store: AppleIdentityStore
  private let inbox: Outbox
  private let now: @Sendable () -> Date
  private static let kind = "apple_notice"

  init(
    store: AppleIdentityStore, keys: DataKeys, erasures: Erasures, ended: EndedSessionList,
    in surroundings: Surroundings
  ) {
    self.store = store
    let now = surroundings.now
    self.now = now
    let work = AppleNoticeWork(store: store, erasures: erasures, ended: ended, now: now)
    inbox = Outbox(
      "inbox", database: store.database, keys: keys, in: surroundings,
      deliveries: [Delivery(Self.kind) { post in try await work.carryOut(post.decode()) }])
  }

  /// Safe to repeat: a notice of the same id is stored once.
  func take(_ notice: AppleNotice) async throws {
    let now = now()
    try await store.database.write { [inbox] db in
      let user = try AppleIdentityStore.account(of: notice.subject, on: db)
      try inbox.add(Self.kind, notice, once: notice.id, user: user, at: now, on: db)
    }
    inbox.ring()
  }

  func run() async throws { try await inbox.run() }
}

/// What follows from a notice. Each is safe to repeat, as a process may die between doing it and noting it.
private struct AppleNoticeWork: Sendable {
  let store: AppleIdentityStore
  let erasures: Erasures
  let ended: EndedSessionList
  let now: @Sendable () -> Date

  func carryOut(_ notice: AppleNotice) async throws {
    let now = now()
    switch notice.kind {
    case .consentRevoked:
      for session in try await store.consentRevoked(by: notice.subject, at: notice.happenedAt, now: now) {
        ended.add(session.session, until: session.until)
      }
    case .accountDeleted:
      guard let user = try await store.deleted(notice.subject) else { return }
      for session in try await erasures.ask(for: user, at: now) ?? [] {
        ended.add(session.session, until: session.until)
      }
    case .emailDisabled, .emailEnabled:
      try await store.mail(
        to: notice.subject, isDisabled: notice.kind == .emailDisabled, since: notice.happenedAt)
    }
  }
}
