import Clients
import Database
import Foundation
import Messages
import Outbox
import Quotas
import Tokens
import Web
import Wire

/// Writes invites to phone numbers together with the texts that carry them.
struct TextInvites: Sendable {
  let invites: InviteStore
  let quotas: QuotaStore
  let perText: TextQuotas
  let perAddress: Quota
  let outbox: Outbox
  let links: AppLinks

  /// Who invites whom to what.
  struct Letter: Sendable {
    let group: GroupStanding
    let sender: Asker
    let senderName: String?
    let numbers: [SendBody.Numbered]
  }

  /// The codes of those who are invited now; who was invited to this group within a day is left out.
  ///
  /// - Throws: 429, and then nobody is invited.
  func write(_ letter: Letter, at now: Date, on db: any Connection) throws -> [SentBody.Sent] {
    guard !letter.numbers.isEmpty else { return [] }
    try Pacing.texts.admit(0, by: letter.sender.user, at: now, on: db)
    // In one order for everybody, so that two who invite the same people do not wait for each other.
    let due = try letter.numbers.sorted { $0.number.text < $1.number.text }
      .filter { try isDue($0.number, letter.group.groupID, at: now, on: db) }
    try Pacing.texts.check(due.count, by: letter.sender.user, at: now, on: db)
    guard !due.isEmpty else { return [] }
    for numbered in due {
      try quotas.take(perText.perNumber, for: numbered.number.text, at: now, on: db)
      try quotas.take(perText.perPrefix, for: numbered.number.prefix, at: now, on: db)
    }
    try quotas.take(perAddress, due.count, for: letter.sender.place, at: now, on: db)
    try quotas.take(perText.inAll, due.count, for: "", at: now, on: db)
    let codes = try due.map { ($0.asked, try write(letter, to: $0.number, at: now, on: db)) }
    let sent = Dictionary(codes) { $1 }
    return letter.numbers.compactMap { numbered in
      sent[numbered.asked].map { SentBody.Sent(phone_number: numbered.asked, invite_code: $0.text) }
    }
  }

  /// Nobody should be added by a call whose texts are then refused: does all of ``write(_:at:on:)``, and takes it back.
  ///
  /// - Throws: 429 when they would be refused.
  func rehearse(_ letter: Letter, at now: Date) async throws {
    do {
      try await invites.database.write { db in
        _ = try write(letter, at: now, on: db)
        throw Rehearsed()
      }
    } catch is Rehearsed {}
  }

  private struct Rehearsed: Error {}

  private func write(
    _ letter: Letter, to number: PhoneNumber, at now: Date, on db: any Connection
  ) throws -> Secret {
    let new = NewInvite(
      way: .text, destination: .group(letter.group.groupID), inviter: letter.sender.user, phone: number.text,
      usesMax: 1,
      expiresAt: now + Invite.lifetimeSeconds)
    let (invite, code) = try invites.add(new, secret: Secret.textCode, at: now, on: db)
    let words = InviteText.words(from: letter.senderName, to: letter.group.groupName, code: code, links)
    try outbox.add(
      InviteText.kind, InviteText(invite: invite.id, number: number.text, text: words), once: invite.id.description,
      user: letter.sender.user, at: now, on: db)
    return code
  }

  /// Whether nobody has invited this number to this group within a day; from now on somebody has.
  private func isDue(_ number: PhoneNumber, _ group: GroupID, at now: Date, on db: any Connection) throws -> Bool {
    // The newest key's first. A day ago another may have been the newest.
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
  /// The texts that invite people from one address. People who live together, or share a carrier's address, invite more
  /// than they sign in.
  ///
  /// - Throws: ``StartFailure`` for a setting that is no number.
  static func inviteTextsPerAddress(_ settings: Settings) throws -> Quota {
    let limit = try settings.int("INVITE_SMS_PER_ADDRESS_HOUR", default: 60, in: 0...1_000_000)
    return Quota(name: "invite texts here", limit: limit, window: .seconds(3600))
  }
}

/// A text that nobody has answered, and where it went.
struct OpenText: Sendable {
  let invite: Invite
  let number: String
}

extension InviteStore {
  /// The open texts to a group, the newest first, each with the number that it went to.
  func pendingTexts(to group: GroupID, at now: Date) async throws -> [OpenText] {
    try await database.read { db in
      try db.rows(
        """
        \(selectInvite(with: .phone)) where kind = 'group' and destination_id = \(group.description) and way = 'text'
          and state = 'pending' and expires_at > \(now)
        order by created_at desc, id desc limit 200
        """
      ).map { OpenText(invite: try Invite($0), number: try self.open(.phone, in: $0) ?? "") }
    }
  }
}
