import Database
import Foundation
import Messages
import Outbox
import Quotas
import Tokens
import Web
import Wire

/// Sends codes: counted, written with their challenge in one transaction, and sent afterwards.
struct CodeSender: Sendable {
  let database: any Database
  let challenges: ChallengeStore
  let quotas: QuotaStore
  let outbox: Outbox
  let textQuotas: TextQuotas
  let testCodes: TestCodes
  let links: MailLinks

  static let textLifetime: Duration = .seconds(300)
  static let mailLifetime: Duration = .seconds(3600)

  /// A text with a code.
  ///
  /// - Parameter sends: false does the same work, and nothing is sent, as for a mail.
  /// - Parameter place: where it is asked for from.
  /// - Throws: 429.
  func text(
    _ number: PhoneNumber, for kind: Challenge.Kind, content: Challenge.Content, account: UserID? = nil,
    lifetime: Duration = CodeSender.textLifetime, sends: Bool = true, from place: String, at now: Date
  ) async throws {
    try await database.write { db in
      try text(
        number, for: kind, content: content, account: account, lifetime: lifetime, sends: sends, from: place, at: now,
        on: db)
    }
    outbox.ring()
  }

  /// The same within a transaction of the caller's, who then rings the outbox.
  func text(
    _ number: PhoneNumber, for kind: Challenge.Kind, content: Challenge.Content, account: UserID?,
    lifetime: Duration = CodeSender.textLifetime, sends: Bool = true, from place: String, at now: Date,
    on db: any Connection
  ) throws {
    let known = testCodes[number]
    let code = known ?? .new()
    var content = content
    if !sends { content.subject = LinkToken.new().text }
    let challenge = Challenge(kind: kind, content: content, account: account, lifetime: lifetime)
    try quotas.take(textQuotas.perNumber, for: number.text, at: now, on: db)
    try quotas.take(textQuotas.perAddress, for: place, at: now, on: db)
    try takeBudget(of: number, at: now, on: db)
    try challenges.add(challenge, code: code, link: nil, at: now, on: db)
    guard known == nil else { return }
    let text = "\(code.text) is your code. It is good for \(lifetime.components.seconds / 60) minutes."
    let message = TextMessage(number: number.text, text: text)
    try outbox.add(sends ? TextMessage.kind : CodeMail.withheldKind, message, user: account, at: now, on: db)
  }

  /// Who has an account with a number is not shut out by what others have asked for. Both ways are the same work.
  private func takeBudget(of number: PhoneNumber, at now: Date, on db: any Connection) throws {
    if try AccountStore.find(Identity(issuer: Identity.phoneIssuer, subject: number.text), on: db) != nil {
      try quotas.take(textQuotas.perAccountNumber, for: number.text, at: now, on: db)
      try quotas.take(textQuotas.toAccounts, for: "", at: now, on: db)
    } else {
      try quotas.take(textQuotas.perPrefix, for: number.prefix, at: now, on: db)
      try quotas.take(textQuotas.inAll, for: "", at: now, on: db)
    }
  }

  /// A mail with a code, and a link when that leads somewhere.
  ///
  /// Nothing goes to an address of Apple's relay that its user has switched off.
  ///
  /// - Parameter sends: false does the same work, and nothing is sent: so neither the answer nor the time that it takes
  ///   tells anybody which addresses are known.
  /// - Throws: 429.
  func mail(
    _ address: EmailAddress, for kind: Challenge.Kind, content: Challenge.Content, account: UserID? = nil,
    sends: Bool = true, from place: String, at now: Date
  ) async throws {
    try await database.write { db in
      try mail(address, for: kind, content: content, account: account, sends: sends, from: place, at: now, on: db)
    }
    outbox.ring()
  }

  /// The same within a transaction of the caller's, who then rings the outbox.
  func mail(
    _ address: EmailAddress, for kind: Challenge.Kind, content: Challenge.Content, account: UserID?,
    sends: Bool = true, from place: String, at now: Date, on db: any Connection
  ) throws {
    try countMail(to: address, from: place, at: now, on: db)
    let isSwitchedOff = try AppleIdentityStore.isSwitchedOff(address, on: db)
    let code = OneTimeCode.new()
    let link = links.leadSomewhere(for: kind, content) ? LinkToken.new() : nil
    let isSent = sends && !isSwitchedOff
    var content = content
    // Nobody can answer it, and it takes no other's place.
    if !isSent { content.subject = LinkToken.new().text }
    let challenge = Challenge(kind: kind, content: content, account: account, lifetime: Self.mailLifetime)
    try challenges.add(challenge, code: code, link: link, at: now, on: db)
    let message = CodeMail(address: address.text, kind: kind, code: code.text, link: link.map { links.page($0, kind) })
    try outbox.add(isSent ? CodeMail.kind : CodeMail.withheldKind, message, user: account, at: now, on: db)
  }

  /// Counts somebody who asks for a mail.
  ///
  /// - Throws: 429.
  func countMail(to address: EmailAddress, from place: String, at now: Date, on db: any Connection) throws {
    // In this order: where a place has no more, nothing is taken from the address.
    try quotas.take(.mailsFromHere, for: place, at: now, on: db)
    try quotas.take(.mailsToAddress, for: address.canonical, at: now, on: db)
  }
}

/// The pages that mails lead to. Made from configuration, never from what a request says of itself.
struct MailLinks: Sendable {
  /// `PUBLIC_URL`.
  let origin: String
  /// `AUTH_REDIRECTS`: what may come after signing in by a link; the first is the default.
  let redirects: [String]

  /// - Throws: ``StartFailure`` for a redirect without a scheme.
  init(_ settings: Settings) throws {
    let origin = settings.string("PUBLIC_URL", default: "http://127.0.0.1:8080")
    self.origin = origin.hasSuffix("/") ? String(origin.dropLast()) : origin
    redirects = settings.list("AUTH_REDIRECTS")
    guard redirects.allSatisfy({ URL(string: $0)?.scheme != nil }) else {
      throw StartFailure("AUTH_REDIRECTS must be URLs, such as myapp://signed-in")
    }
  }

  /// Whether whoever follows a link has something of it. Confirming an address needs no app to go back to; a session does.
  func leadSomewhere(for kind: Challenge.Kind, _ content: Challenge.Content) -> Bool {
    switch kind {
    case .confirmation: true
    case .email, .recovery: !redirects.isEmpty
    // Only the app that has asked can do something with it.
    case .changeEmail: !redirects.isEmpty && content.codeChallenge != nil
    case .phone, .addPhone, .addEmail, .changePhone, .reauthentication, .exchange: false
    }
  }

  func page(_ link: LinkToken, _ kind: Challenge.Kind) -> String {
    "\(origin)/auth/v1/verify?type=\(kind.rawValue)&token_hash=\(link.text)"
  }

  /// The asked one if it is configured, or begins with one that is followed by a slash or a question mark.
  func allowed(_ asked: String?) -> String? {
    guard let asked, Self.staysWhereItPoints(asked) else { return redirects.first }
    let isAllowed = redirects.contains { known in
      asked == known || asked.hasPrefix(known.hasSuffix("/") ? known : known + "/") || asked.hasPrefix(known + "?")
    }
    return isAllowed ? asked : redirects.first
  }

  /// Whether what a URL points at is what it begins with: a browser resolves `..`, in any spelling (WHATWG URL §4.4), and
  /// takes a backslash for a slash. A fragment would swallow the tokens that are appended.
  private static func staysWhereItPoints(_ url: String) -> Bool {
    let isPlain = url.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7F && $0 != "\\" && $0 != "#" }
    guard isPlain else { return false }
    let path = url.prefix { $0 != "?" }.lowercased().replacing("%2e", with: ".")
    guard !path.contains("%5c"), !path.contains("%2f"), !path.contains("%25") else { return false }
    return path.split(separator: "/").allSatisfy { $0 != "." && $0 != ".." }
  }
}
