import ClientBodies
import Clients
import Database
import Foundation
import Messages
import Outbox
import Quotas
import Tokens
import Web
import Wire

/// SQL on invites to phone numbers. An invite and the outbox message with its text are written in one transaction.
struct TextInviteStore: Sendable {
  let invites: InviteStore
  let quotas: QuotaStore
  let smsQuotas: SMSQuotas
  let addressQuota: Quota
  let outbox: Outbox
  let links: AppLinks

  /// The invites that one sender makes to one group.
  struct Batch: Sendable {
    let group: GroupMembership
    let sender: Requester
    let senderName: String?
    let recipients: [SendInvitesBody.Recipient]
  }

  /// Creates the invites and returns their codes. A number that was invited to this group within a day is skipped.
  ///
  /// - Throws: 429; then no invite is created.
  func create(_ batch: Batch, at now: Date, on db: any Connection) throws -> [SentInvites.Text] {
    guard !batch.recipients.isEmpty else { return [] }
    try InviteRateQuota.texts.enforce(0, by: batch.sender.user, at: now, on: db)
    // Sorted, so that two senders who invite the same numbers lock rows in the same order.
    let due = try batch.recipients.sorted { $0.number.text < $1.number.text }
      .filter { try markTexted($0.number, batch.group.groupID, at: now, on: db) }
    try InviteRateQuota.texts.check(due.count, by: batch.sender.user, at: now, on: db)
    guard !due.isEmpty else { return [] }
    for recipient in due {
      try quotas.take(smsQuotas.perNumber, for: recipient.number.text, at: now, on: db)
      try quotas.take(smsQuotas.perPrefix, for: recipient.number.quotaPrefix, at: now, on: db)
    }
    try quotas.take(addressQuota, due.count, for: batch.sender.clientAddress, at: now, on: db)
    try quotas.take(smsQuotas.total, due.count, for: "", at: now, on: db)
    let codes = try due.map { ($0.input, try create(batch, to: $0.number, at: now, on: db)) }
    let sent = Dictionary(codes) { $1 }
    return batch.recipients.compactMap { recipient in
      sent[recipient.input].map { SentInvites.Text(phoneNumber: recipient.input, inviteCode: $0.text) }
    }
  }

  /// Does what ``create(_:at:on:)`` does and rolls it back, so that no existing user is added by a request whose texts
  /// would then be refused.
  ///
  /// - Throws: 429 when the texts would be refused.
  func dryRun(_ batch: Batch, at now: Date) async throws {
    do {
      try await invites.database.write { db in
        _ = try create(batch, at: now, on: db)
        throw DryRunRollback()
      }
    } catch is DryRunRollback {}
  }

  private struct DryRunRollback: Error {}

  private func create(
    _ batch: Batch, to number: PhoneNumber, at now: Date, on db: any Connection
  ) throws -> InviteToken {
    let new = NewInvite(
      channel: .text, target: .group(batch.group.groupID), inviter: batch.sender.user, phone: number.text, usesMax: 1,
      expiresAt: now + Invite.lifetimeSeconds)
    let (invite, code) = try invites.add(new, token: InviteToken.textCode, at: now, on: db)
    let text = InviteText.body(from: batch.senderName, to: batch.group.groupName, code: code, links)
    try outbox.add(
      InviteText.kind, InviteText(invite: invite.id, number: number.text, text: text),
      deduplicationKey: invite.id.description, user: batch.sender.user, at: now, on: db)
    return code
  }

  /// Records that the number is invited to the group now. False when it was invited within a day.
  private func markTexted(_ number: PhoneNumber, _ group: GroupID, at now: Date, on db: any Connection) throws -> Bool {
    // One HMAC for each key, the newest key's first: an invite of the last day may be stored under an older key.
    let hashes = invites.keys.digests(of: Data(number.text.utf8), purpose: "texted")
    let recent = try db.row(
      """
      select texted_at from texted
      where group_id = \(group) and phone_hash in (\(list: hashes)) and texted_at > \(now - 86_400)
      """)
    guard recent == nil else { return false }
    return try db.change(
      """
      insert into texted (group_id, phone_hash, texted_at) values (\(group), \(hashes[0]), \(now))
      on conflict (group_id, phone_hash) do update set texted_at = excluded.texted_at
        where texted.texted_at <= \(now - 86_400)
      """) == 1
  }
}

extension Quota {
  /// The limit on invite texts from one client address. It is higher than for sign-ins: people who live together or
  /// share a carrier's address send more invites than they sign in.
  ///
  /// - Throws: ``StartFailure`` for a setting that is not a number.
  static func inviteTextsPerAddress(_ settings: Settings) throws -> Quota {
    let limit = try settings.int("INVITE_SMS_PER_ADDRESS_HOUR", default: 60, in: 0...1_000_000)
    return Quota(name: "invite texts here", limit: limit, window: .seconds(3600))
  }
}

/// A text whose invite is pending, and the number that it was sent to.
struct PendingText: Sendable {
  let invite: Invite
  let number: String
}

extension InviteStore {
  /// The newest 200 pending texts to a group, each with the number that it was sent to.
  func pendingTexts(to group: GroupID, at now: Date) async throws -> [PendingText] {
    try await database.read { db in
      try db.rows(
        """
        \(selectInvite(with: .phone)) where kind = 'group' and destination_id = \(group.description) and way = 'text'
          and state = 'pending' and expires_at > \(now)
        order by created_at desc, id desc limit 200
        """
      ).map { PendingText(invite: try Invite($0), number: try self.open(.phone, in: $0) ?? "") }
    }
  }
}
