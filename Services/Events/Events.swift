import Clients
import Foundation
import ServiceLifecycle
import Web

/// Builds the events service: its log, routes and background jobs.
package func buildEvents(_ dependencies: Dependencies) async throws -> Server {
  let settings = dependencies.settings
  let serviceKeys = try ServiceKeys(settings)
  let dataKeys = try settings.dataKeys()
  let verification = try TokenVerification(in: dependencies)
  let users = UsersClient(in: dependencies)
  let metrics = EventMetrics(in: dependencies)
  let verifier = CredentialVerifier(verification: verification, now: dependencies.now)
  let owners = TopicRights.owningServices.filter(dependencies.serviceAddresses.configured.contains)
  let rights = TopicRights(client: TopicAccessClient(owners, in: dependencies), owners: owners)

  let database = try await dependencies.openDatabase(eventsSchema)
  let changes = ChangeSignal()
  let relay = ConversationRelay(
    database: database, logger: dependencies.logger, now: dependencies.now,
    lost: { metrics.refused(.lost, by: $0) })
  let store = LogStore(database: database, replica: relay.replica)
  let replicas = ReplicaStore(database: database)
  let lease = ReplicaLease(of: relay.replica, store: replicas, now: dependencies.now)
  let apns = try APNsSettings(settings)
  // For who is notified. With SQLite there is no other process.
  let openTopics =
    database.engine == .postgres && apns != nil
    ? OpenTopics(
      store: OpenTopicStore(database: database), lease: lease, logger: dependencies.logger, now: dependencies.now)
    : nil
  let live = LiveTopics(shared: openTopics)
  let pushes = try PushModule(
    apns, in: dependencies, database: database, keys: dataKeys, users: users,
    audience: PushAudience(rights: rights, live: live, openTopics: openTopics))
  let devices = DeviceStore(database: database)
  let idempotency = Idempotency(database: database, keys: dataKeys, now: dependencies.now)
  let watches = StreamWatches(live: live)
  let hub = RealtimeHub(metrics: metrics, live: live, now: dependencies.now)
  let conversations = Conversations(
    presences: PresenceStore(database: database), replicas: replicas, lease: lease, relay: relay, hub: hub,
    now: dependencies.now)
  // With SQLite there is no other process.
  let connections =
    database.engine == .postgres
    ? OpenConnections(store: OpenConnectionStore(database: database), lease: lease, now: dependencies.now) : nil
  let limits = try ConnectionLimits(settings, replicated: connections)
  let socketSettings = try SocketSettings(settings)
  let services = SocketServices(
    store: store, rights: rights, verifier: verifier, limits: limits, metrics: metrics, hub: hub,
    conversations: conversations, settings: socketSettings)
  let observers: [any LogObserver] = [RightsObserver(rights: rights), watches, hub]
  // With SQLite there is no other process.
  let notifications = try dependencies.directPostgresURL(eventsSchema).map {
    try ReplicaNotifications(url: $0, changes: changes, relay: relay, hub: hub, logger: dependencies.logger)
  }
  let tail = LogTail(
    store: store, changes: changes, observers: observers, logger: dependencies.logger,
    pollInterval: { notifications?.logPollInterval ?? dependencies.pollInterval })
  let background: [any Service] = [
    tail,
    LogSweep(database: database, logger: dependencies.logger, now: dependencies.now),
    ConversationMessageSweep(database: database, logger: dependencies.logger, now: dependencies.now),
    IdempotencySweep(idempotency, logger: dependencies.logger), relay,
    ReplicaMaintenance(
      lease: lease, conversations: conversations, connections: connections, topics: openTopics,
      hasSockets: { metrics.open.hasSockets },
      logger: dependencies.logger),
  ]
  return try Server(
    .events, in: dependencies, database: database,
    authenticator: verification.authenticator(serviceKeys, users: users, now: dependencies.now),
    api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background + pushes.background + (openTopics.map { [$0] } ?? []) + background
      + (notifications.map { [$0] } ?? []),
    isReady: { verification.ended.isLoaded },
    takeover: SocketUpgrade(services: services, keys: serviceKeys).takeover
  ) { routes in
    FeedRoutes(store: store, tail: tail, metrics: metrics, pushes: pushes, now: dependencies.now).add(to: routes)
    DeviceTokenRoutes(devices: devices, idempotency: idempotency, now: dependencies.now).add(to: routes)
    DetailedDeviceRoutes(devices: devices, idempotency: idempotency, now: dependencies.now).add(to: routes)
    DeviceTransferRoutes(devices: devices).add(to: routes)
    PreferenceRoutes(preferences: PreferenceStore(database: database), rights: rights, now: dependencies.now)
      .add(to: routes)
    EventStreamRoutes(
      store: store, watches: watches, rights: rights, verifier: verifier, limits: limits, metrics: metrics
    ).add(to: routes)
    SocketRoute(metrics: metrics).add(to: routes)
    BroadcastRoutes(
      conversations: conversations, rights: rights, allowances: BroadcastAllowances(socketSettings), metrics: metrics
    ).add(to: routes)
    PersonalDataRoutes(EventsPersonalDataStore(database: database, pushes: pushes), now: dependencies.now).add(
      to: routes)
  }
}
