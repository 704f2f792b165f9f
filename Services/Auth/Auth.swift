import Clients
import Database
import EventFeed
import Foundation
import Messages
import Outbox
import Quotas
import RestRoutes
import ServiceLifecycle
import Tokens
import Web
import Wire

/// Builds the auth service from its dependencies.
package func buildAuth(_ dependencies: Dependencies) async throws -> Server {
  let settings = dependencies.settings
  let now = dependencies.now
  let tokenKeys = try TokenKeys(settings, logger: dependencies.logger)
  let serviceKeys = try ServiceKeys(settings)
  let adminKey = try settings.adminKey()
  let apiKeys = settings.list("API_KEYS")
  let allowsAnonymous = try settings.bool("ANONYMOUS_SIGN_INS", default: try settings.stage() == .development)
  let apple = settings.signInWithApple()
  let appleTokenClient = try settings.appleTeam().map(AppleTokenClient.init)
  let passwordHasher = try PasswordHasher(settings, in: dependencies.registry)
  let eraseAfterDays = try settings.int("ACCOUNT_ERASE_AFTER_DAYS", default: 30, in: 0...3650)

  let messaging = try MessagingConfiguration(settings, dependencies)
  let policy = VerificationPolicy(settings)
  let knownAddresses = KnownAddresses(keys: messaging.keys)
  let tokenIssuer = TokenPairIssuer(
    signer: try tokenKeys.signer(), lifetimes: try TokenLifetimes(settings), knownAddresses: knownAddresses)

  let eventFeed = EventFeed(try await dependencies.openDatabase(authSchema), in: dependencies)
  let database = eventFeed.database
  let accounts = AccountStore(database: database)
  let sessions = SessionStore(database: database, tokenIssuer: tokenIssuer)
  let signInCounter = SignInCounter(in: dependencies.registry)
  let ended = dependencies.endedSessions ?? EndedSessionList()
  ended.addAge(to: dependencies)

  let publicURL = messaging.links.origin
  let idempotency = Idempotency(database: database, keys: messaging.keys, now: now)
  let grants = AppleGrants(
    store: AppleTokenStore(database: database, keys: messaging.keys), apple: apple, tokenClient: appleTokenClient,
    logger: dependencies.logger, now: now)
  let outbox = messaging.outbox(database, grants, in: dependencies)
  let profiles = ProfileStore(database: database, outbox: outbox)
  let codeSender = messaging.codeSender(database, outbox)
  let linkedIdentities = LinkedIdentityStore(database: database, outbox: outbox)

  let codeSignIn = CodeSignIn(
    database: database, challenges: codeSender.challenges, quotas: codeSender.quotas, tokenIssuer: tokenIssuer,
    contactChange: ContactChange(outbox: outbox))
  let passwordSignIn = PasswordSignIn(
    database: database,
    store: PasswordStore(database: database, quotas: codeSender.quotas, knownAddresses: knownAddresses),
    hasher: passwordHasher, codeSender: codeSender, tokenIssuer: tokenIssuer)

  let otherServices = PersonalDataClients(except: .auth, in: dependencies)
  let personalData = PersonalDataStore(database: database, outbox: outbox)
  let erasure = AccountErasure(
    store: personalData, after: .seconds(eraseAfterDays * 86_400), otherServices: otherServices, apple: grants,
    in: dependencies)
  let appleNotifications = AppleNotificationInbox(
    store: AppleIdentityStore(database: database), keys: messaging.keys, erasure: erasure, ended: ended,
    in: dependencies)

  let endedChanges = EndedSessionChanges()
  let notifications = try dependencies.directPostgresURL(authSchema).map {
    try EndedSessionNotifications(url: $0, signalling: dependencies.writes)
  }
  let feed = sessions.endedFeed(
    to: ended, in: dependencies, notifications: notifications, onChange: endedChanges.send)
  let sweep = ExpiredRowsSweep(
    database: database, challenges: codeSender.challenges, quotas: codeSender.quotas, in: dependencies)

  let externalAccounts = ExternalAccounts(accounts: accounts, signInCounter: signInCounter, now: now)
  let externalIdentities = try ExternalIdentities(settings, logger: dependencies.logger) { user in
    try await externalAccounts.account(of: user).id
  }
  let authenticator = CallerAuthenticator(
    keys: serviceKeys, verifier: AccessTokenVerifier(tokenKeys.ring), ended: ended, now: now,
    externalUser: externalIdentities.user
  ) { name in try await accounts.activeAccount(withAnyID: name)?.id }

  return try Server(
    .auth, in: dependencies, database: database, authenticator: authenticator,
    api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: [tokenKeys, feed, outbox, erasure, appleNotifications, sweep] + [notifications].compactMap(\.self)
      + eventFeed.background,
    isReady: { ended.isLoaded },
    holdsTokens: { $0.method != .get && $0.method != .head || $0.uri.path.hasPrefix("/auth/v1") }
  ) { routes in
    let lastSeen = LastSeenMiddleware(sessions: sessions, now: now)
    routes.add(middleware: lastSeen)
    let sessionRoutes = SessionRoutes(sessions: sessions, ended: ended, signInCounter: signInCounter, now: now)
    sessionRoutes.add(to: routes)
    SignInRoutes(
      accounts: accounts, profiles: profiles, tokenIssuer: tokenIssuer, apple: apple, grants: grants,
      adminKey: adminKey, signInCounter: signInCounter, now: now
    ).add(to: routes)
    AppleNotificationRoutes(apple: apple, inbox: appleNotifications, now: now).add(to: routes)
    PasswordRoutes(
      passwordSignIn: passwordSignIn, codeSender: codeSender, sessions: sessions, profiles: profiles, ended: ended,
      signInCounter: signInCounter, now: now
    ).add(to: routes)
    PhoneRoutes(
      codeSender: codeSender, codeSignIn: codeSignIn, sessions: sessions, profiles: profiles,
      sessionRoutes: sessionRoutes, signInCounter: signInCounter, now: now
    ).add(to: routes)
    SupabaseRoutes(
      passwordSignIn: passwordSignIn, codeSignIn: codeSignIn, codeSender: codeSender,
      linkedIdentities: linkedIdentities, accounts: accounts, profiles: profiles, sessionRoutes: sessionRoutes,
      apple: apple, grants: grants, tokenIssuer: tokenIssuer, apiKeys: apiKeys, allowsAnonymous: allowsAnonymous,
      signInCounter: signInCounter, now: now
    ).add(to: routes)
    SupabaseUserRoutes(
      profiles: profiles, sessions: sessions,
      updater: UserUpdater(profiles: profiles, passwordSignIn: passwordSignIn, codeSender: codeSender),
      links: codeSender.links, ring: tokenKeys.ring, apiKeys: apiKeys, ended: ended, now: now
    ).add(to: routes)
    MailLinkPage(codeSignIn: codeSignIn, passwordSignIn: passwordSignIn, links: codeSender.links, now: now)
      .add(to: routes)
    SessionListRoutes(sessions: sessions, ended: ended, now: now).add(to: routes)
    LinkedIdentityRoutes(
      linkedIdentities: linkedIdentities, profiles: profiles, codeSender: codeSender, apple: apple, grants: grants,
      ended: ended, now: now
    ).add(to: routes)
    ProfileRoutes(profiles: profiles, erasure: erasure, passwordSignIn: passwordSignIn, ended: ended, now: now)
      .add(to: routes)
    RestRoutes(
      UserTable.schema(origin: publicURL, profiles), in: RestTransaction(database, idempotency), now: now
    ).add(to: routes)
    AccountRoutes(accounts: accounts, erasure: erasure, ended: ended, lastSeen: lastSeen, now: now).add(to: routes)
    PersonalDataExportRoutes(store: personalData, otherServices: otherServices).add(to: routes)
    ExternalIdentityRoutes(accounts: externalAccounts, policy: policy).add(to: routes)
    PeopleRoutes(people: PeopleStore(database: database, policy: policy)).add(to: routes)
    ServiceRoutes(
      accounts: accounts, sessions: sessions, endedChanges: endedChanges, ended: ended, ring: tokenKeys.ring,
      policy: policy, now: now
    ).add(to: routes)
  }
}

/// How texts and mails are sent, from the settings.
private struct MessagingConfiguration {
  let keys: DataKeys
  let smsSender: any SMSSender
  let mailSender: any MailSender
  let smsQuotas: SMSQuotas
  let testCodes: TestCodes
  let links: MailLinks
  let app: String

  /// - Throws: ``StartFailure`` that names the variable at fault.
  init(_ settings: Settings, _ dependencies: Dependencies) throws {
    keys = try settings.dataKeys()
    smsSender = try settings.smsSender(logger: dependencies.logger)
    mailSender = try settings.mailSender(logger: dependencies.logger, now: dependencies.now)
    smsQuotas = try SMSQuotas(settings)
    testCodes = try TestCodes(settings)
    links = try MailLinks(settings)
    app = settings.string("APP_NAME", default: "Kith")
  }

  func outbox(_ database: any Database, _ grants: AppleGrants, in dependencies: Dependencies) -> Outbox {
    Outbox(
      database: database, keys: keys, in: dependencies,
      deliveries: [
        CodeSMS.delivery(smsSender), CodeMail.delivery(mailSender, app: app, database: database), CodeMail.withheld,
        AddressChangedMail.delivery(mailSender, app: app),
        AppleRevocation.delivery(grants), AvatarFile.delivery(database, StorageClient(in: dependencies)),
      ])
  }

  func codeSender(_ database: any Database, _ outbox: Outbox) -> CodeSender {
    CodeSender(
      database: database, challenges: ChallengeStore(keys: keys), quotas: QuotaStore(keys: keys), outbox: outbox,
      smsQuotas: smsQuotas, testCodes: testCodes, links: links)
  }
}

extension TokenLifetimes {
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
