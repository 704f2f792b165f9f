import Clients
import Database
import Foundation
import Messages
import Outbox
import Quotas
import ServiceLifecycle
import Tokens
import Web
import Wire

/// The auth service: where everything meets.
package func buildAuth(_ surroundings: Surroundings) async throws -> Server {
  let settings = surroundings.settings
  let now = surroundings.now
  let tokenKeys = try TokenKeys(settings, logger: surroundings.logger)
  let serviceKeys = try ServiceKeys(settings)
  let adminKey = try settings.adminKey()
  let apiKeys = settings.list("API_KEYS")
  let takesAnonymous = try settings.bool("ANONYMOUS_SIGN_INS", default: try settings.stage() == .development)
  let apple = settings.signInWithApple()
  let appleTokens = try settings.appleTeam().map(AppleTokens.init)
  let passwords = try Passwords(settings, in: surroundings.registry)
  let eraseAfterDays = try settings.int("ACCOUNT_ERASE_AFTER_DAYS", default: 30, in: 0...3650)
  let posts = try Posts(settings, surroundings)
  let rule = ProofRule(settings)
  let places = KnownPlaces(keys: posts.keys)
  let mint = Mint(issuer: try tokenKeys.issuer(), lifetimes: try Lifetimes(settings), places: places)

  let database = try await surroundings.openDatabase(for: "auth", authMigrations)
  let accounts = AccountStore(database: database)
  let profiles = ProfileStore(database: database)
  let sessions = SessionStore(database: database, mint: mint)
  let signIns = SignIns(in: surroundings.registry)
  let ended = EndedSessionList()
  let grants = AppleGrants(
    store: AppleTokenStore(database: database, keys: posts.keys), apple: apple, tokens: appleTokens,
    logger: surroundings.logger, now: now)
  let outbox = posts.outbox(database, grants, in: surroundings)
  let sender = posts.sender(database, outbox)
  let ways = WayStore(database: database, outbox: outbox)
  let codes = CodeDoor(
    database: database, challenges: sender.challenges, quotas: sender.quotas, mint: mint,
    changes: AddressChanges(outbox: outbox))
  let passwordDoor = PasswordDoor(
    database: database, store: PasswordStore(database: database, quotas: sender.quotas, places: places),
    passwords: passwords, codes: sender, mint: mint)
  let others = UserDataClients(than: .auth, in: surroundings)
  let erasures = Erasures(
    store: ErasureStore(database: database, outbox: outbox), after: .seconds(eraseAfterDays * 86_400), others: others,
    apple: grants, in: surroundings)
  let appleNotices = AppleNotices(
    store: AppleIdentityStore(database: database), keys: posts.keys, erasures: erasures, ended: ended, in: surroundings)
  let feed = EndedSessionsFeed(list: ended, in: surroundings) { cursor in
    try await .all { try await sessions.ended(since: cursor, after: $0, limit: EndedSessions.pageMax, at: now()) }
  }
  let sweep = Sweep(database: database, challenges: sender.challenges, quotas: sender.quotas, in: surroundings)
  let outside = OutsideAccounts(accounts: accounts, signIns: signIns, now: now)
  let outsiders = try Outsiders(settings, logger: surroundings.logger) { try await outside.account(of: $0).id }
  let callers = Callers(
    keys: serviceKeys, verifier: Verifier(tokenKeys.ring), ended: ended, now: now, outsider: outsiders.user
  ) { name in try await accounts.active(knownAs: name)?.id }
  return try Server(
    .auth, in: surroundings, database: database, callers: callers,
    api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: [tokenKeys, feed, outbox, erasures, appleNotices, sweep], isReady: { ended.isKnown },
    holdsTokens: { $0.method != .get && $0.method != .head || $0.uri.path.hasPrefix("/auth/v1") }
  ) { routes in
    routes.add(middleware: LastSeen(sessions: sessions, now: now))
    let refreshing = SessionRoutes(sessions: sessions, ended: ended, signIns: signIns, now: now)
    refreshing.add(to: routes)
    SignInRoutes(
      accounts: accounts, profiles: profiles, mint: mint, apple: apple, grants: grants, adminKey: adminKey,
      signIns: signIns, now: now
    ).add(to: routes)
    AppleNoticeRoutes(apple: apple, notices: appleNotices, now: now).add(to: routes)
    PasswordRoutes(
      door: passwordDoor, codes: sender, sessions: sessions, profiles: profiles, ended: ended, signIns: signIns,
      now: now
    ).add(to: routes)
    PhoneRoutes(
      sender: sender, door: codes, sessions: sessions, profiles: profiles, refreshing: refreshing, signIns: signIns,
      now: now
    ).add(to: routes)
    SupabaseRoutes(
      passwords: passwordDoor, codes: codes, sender: sender, ways: ways, accounts: accounts, profiles: profiles,
      refreshing: refreshing, apple: apple, grants: grants, mint: mint, apiKeys: apiKeys,
      takesAnonymous: takesAnonymous, signIns: signIns, now: now
    ).add(to: routes)
    SupabaseUserRoutes(
      profiles: profiles, sessions: sessions, changes: UserChanges(passwords: passwordDoor, sender: sender),
      links: sender.links, ring: tokenKeys.ring, apiKeys: apiKeys, ended: ended, now: now
    ).add(to: routes)
    LinkPage(codes: codes, passwords: passwordDoor, links: sender.links, now: now).add(to: routes)
    SessionListRoutes(sessions: sessions, ended: ended, now: now).add(to: routes)
    WayRoutes(
      ways: ways, profiles: profiles, sender: sender, apple: apple,
      grants: grants, ended: ended, now: now
    ).add(to: routes)
    ProfileRoutes(profiles: profiles, erasures: erasures, passwords: passwordDoor, ended: ended, now: now)
      .add(to: routes)
    AccountRoutes(accounts: accounts, erasures: erasures, ended: ended, now: now).add(to: routes)
    ExportRoutes(store: ExportStore(database: database), others: others).add(to: routes)
    OutsiderRoutes(outsiders: outside, rule: rule).add(to: routes)
    PeopleRoutes(people: PeopleStore(database: database, rule: rule)).add(to: routes)
    ServiceRoutes(accounts: accounts, sessions: sessions, ring: tokenKeys.ring, rule: rule, now: now).add(to: routes)
  }
}

/// What goes out by text and by mail, as it is configured.
private struct Posts {
  let keys: DataKeys
  let messages: any Messages
  let mail: any Mail
  let textQuotas: TextQuotas
  let testCodes: TestCodes
  let links: MailLinks
  let app: String

  /// - Throws: ``StartFailure`` that names the variable at fault.
  init(_ settings: Settings, _ surroundings: Surroundings) throws {
    keys = try settings.dataKeys()
    messages = try settings.messages(logger: surroundings.logger)
    mail = try settings.mail(logger: surroundings.logger, now: surroundings.now)
    textQuotas = try TextQuotas(settings)
    testCodes = try TestCodes(settings)
    links = try MailLinks(settings)
    app = settings.string("APP_NAME", default: "Kith")
  }

  func outbox(_ database: any Database, _ grants: AppleGrants, in surroundings: Surroundings) -> Outbox {
    Outbox(
      database: database, keys: keys, in: surroundings,
      deliveries: [
        TextMessage.delivery(messages), CodeMail.delivery(mail, app: app, database: database), CodeMail.withheld,
        AddressNotice.delivery(mail, app: app),
        AppleUnlinked.delivery(grants),
      ])
  }

  func sender(_ database: any Database, _ outbox: Outbox) -> CodeSender {
    CodeSender(
      database: database, challenges: ChallengeStore(keys: keys), quotas: QuotaStore(keys: keys), outbox: outbox,
      textQuotas: textQuotas, testCodes: testCodes, links: links)
  }
}

extension Lifetimes {
  init(_ settings: Settings) throws {
    let minutes = try settings.int("JWT_ACCESS_EXPIRE_MINUTES", default: 15, in: 1...1440)
    let days = try settings.int("JWT_REFRESH_EXPIRE_DAYS", default: 30, in: 1...365)
    let grace = try settings.int("REFRESH_REUSE_GRACE_SECONDS", default: 0, in: 0...60)
    let signInDays = try settings.int("JWT_SIGN_IN_EXPIRE_DAYS", default: 30, in: 1...365)
    let sessionDays = try settings.int("SESSION_MAX_DAYS", default: 365, in: 1...3650)
    self.init(
      access: .seconds(minutes * 60), signIn: .seconds(signInDays * 86_400), refresh: .seconds(days * 86_400),
      session: .seconds(sessionDays * 86_400), reuseGrace: .seconds(grace))
  }
}
