import Database
import Foundation
import Messages
import Outbox
import Quotas
import Wire

/// Sends one-time codes by SMS and mail: takes the quotas and writes challenge and outbox message in one transaction;
/// the outbox sends afterwards.
struct CodeSender: Sendable {
  let database: any Database
  let challenges: ChallengeStore
  let quotas: QuotaStore
  let outbox: Outbox
  let smsQuotas: SMSQuotas
  let testCodes: TestCodes
  let links: MailLinks

  static let smsLifetime: Duration = .seconds(300)
  static let mailLifetime: Duration = .seconds(3600)

  /// Sends an SMS with a code.
  ///
  /// - Parameter sends: false does the same work without sending anything, as for a mail.
  /// - Parameter clientAddress: where the request comes from.
  /// - Throws: 429.
  func sendSMS(
    _ number: PhoneNumber, for kind: Challenge.Kind, content: Challenge.Content, account: UserID? = nil,
    lifetime: Duration = CodeSender.smsLifetime, sends: Bool = true, from clientAddress: String, at now: Date
  ) async throws {
    try await database.write { db in
      try sendSMS(
        number, for: kind, content: content, account: account, lifetime: lifetime, sends: sends, from: clientAddress,
        at: now, on: db)
    }
    outbox.wakeUp()
  }

  /// The same within the caller's transaction; the caller wakes up the outbox after the commit.
  func sendSMS(
    _ number: PhoneNumber, for kind: Challenge.Kind, content: Challenge.Content, account: UserID?,
    lifetime: Duration = CodeSender.smsLifetime, sends: Bool = true, from clientAddress: String, at now: Date,
    on db: any Connection
  ) throws {
    let testCode = testCodes[number]
    let code = testCode ?? .new()
    var content = content
    if !sends { content.subject = MailLinkToken.new().text }
    let challenge = Challenge(kind: kind, content: content, account: account, lifetime: lifetime)
    try quotas.take(smsQuotas.perNumber, for: number.text, at: now, on: db)
    try quotas.take(smsQuotas.perAddress, for: clientAddress, at: now, on: db)
    try takeSharedQuotas(of: number, at: now, on: db)
    try challenges.add(challenge, code: code, link: nil, at: now, on: db)
    guard testCode == nil else { return }
    let text = "\(code.text) is your code. It is good for \(lifetime.components.seconds / 60) minutes."
    let message = CodeSMS(number: number.text, text: text)
    try outbox.add(sends ? CodeSMS.kind : CodeMail.withheldKind, message, user: account, at: now, on: db)
  }

  /// Numbers that belong to an account have quotas of their own, so that requests for other numbers do not lock out
  /// their users. Both branches do the same work.
  private func takeSharedQuotas(of number: PhoneNumber, at now: Date, on db: any Connection) throws {
    if try AccountStore.find(Identity(issuer: Identity.phoneIssuer, subject: number.text), on: db) != nil {
      try quotas.take(smsQuotas.perAccountNumber, for: number.text, at: now, on: db)
      try quotas.take(smsQuotas.toAccounts, for: "", at: now, on: db)
    } else {
      try quotas.take(smsQuotas.perPrefix, for: number.quotaPrefix, at: now, on: db)
      try quotas.take(smsQuotas.total, for: "", at: now, on: db)
    }
  }

  /// Sends a mail with a code, and with a link where ``MailLinks/sendsLink(for:_:)`` has one.
  ///
  /// Nothing is sent to an address of Apple's relay whose user has disabled forwarding.
  ///
  /// - Parameter sends: false does the same work without sending anything, so that neither the response nor its
  ///   duration shows which addresses have an account.
  /// - Throws: 429.
  func sendMail(
    _ address: EmailAddress, for kind: Challenge.Kind, content: Challenge.Content, account: UserID? = nil,
    sends: Bool = true, from clientAddress: String, at now: Date
  ) async throws {
    try await database.write { db in
      try sendMail(
        address, for: kind, content: content, account: account, sends: sends, from: clientAddress, at: now, on: db)
    }
    outbox.wakeUp()
  }

  /// The same within the caller's transaction; the caller wakes up the outbox after the commit.
  func sendMail(
    _ address: EmailAddress, for kind: Challenge.Kind, content: Challenge.Content, account: UserID?,
    sends: Bool = true, from clientAddress: String, at now: Date, on db: any Connection
  ) throws {
    try takeMailQuota(to: address, from: clientAddress, at: now, on: db)
    let isForwardingDisabled = try AppleIdentityStore.isForwardingDisabled(address, on: db)
    let code = OneTimeCode.new()
    let link = links.sendsLink(for: kind, content) ? MailLinkToken.new() : nil
    let isSent = sends && !isForwardingDisabled
    var content = content
    // A random subject: nobody can answer the challenge, and it counts as none of the address's open ones.
    if !isSent { content.subject = MailLinkToken.new().text }
    let challenge = Challenge(kind: kind, content: content, account: account, lifetime: Self.mailLifetime)
    try challenges.add(challenge, code: code, link: link, at: now, on: db)
    let message = CodeMail(address: address.text, kind: kind, code: code.text, link: link.map { links.url($0, kind) })
    try outbox.add(isSent ? CodeMail.kind : CodeMail.withheldKind, message, user: account, at: now, on: db)
  }

  /// Takes the quotas of a mail.
  ///
  /// - Throws: 429.
  func takeMailQuota(to address: EmailAddress, from clientAddress: String, at now: Date, on db: any Connection) throws {
    // In this order: a client address without quota left takes nothing from the recipient's.
    try quotas.take(.mailPerClientAddress, for: clientAddress, at: now, on: db)
    try quotas.take(.mailPerRecipient, for: address.canonical, at: now, on: db)
  }
}
