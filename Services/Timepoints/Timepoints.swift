import Clients
import EventFeed
import Foundation
import Photos
import ServiceLifecycle
import Web

/// Builds the timepoints service: its stores, routes and background jobs.
///
/// - Parameter library: what renders pictures; without it the service is not ready.
package func buildTimepoints(_ dependencies: Dependencies, library: VipsLibrary = .shared) async throws -> Server {
  let settings = dependencies.settings
  let serviceKeys = try ServiceKeys(settings)
  let adminKey = try settings.adminKey()
  let access = try Access(settings)
  let generationSettings = try GenerationSettings(settings)
  let callbackRules = try CallbackRules(settings)
  let (blobs, now, logger) = (try BlobFolder(settings), dependencies.now, dependencies.logger)
  let images = SceneImages(try PhotoStorage(settings, part: "timepoints", logger: logger), library: library)
  let verification = try TokenVerification(in: dependencies)
  let users = UsersClient(in: dependencies)
  let feed = EventFeed(try await dependencies.openDatabase(timepointsSchema), in: dependencies)
  let database = feed.database
  let models = try Generation(database: database, in: dependencies, drawPicture: images.draw)

  let charges = Charges(database: database, in: dependencies)
  let keys = try settings.dataKeys()
  let callbacks = Callbacks(callbackRules, database: database, keys: keys, in: dependencies)
  let idempotency = Idempotency(database: database, keys: keys, now: now)
  let signals = GenerationSignals(engine: database.engine, lookInterval: dependencies.pollInterval / 4)
  let worker = GenerationWorker(
    GenerationRun(
      database: database, pipeline: models.pipeline, charges: charges, images: images, blobs: blobs,
      callbacks: callbacks, signals: signals, isCharged: !access.isOpen, logger: logger, now: now),
    settings: generationSettings, in: dependencies)
  let generations = Generations(
    database: database, charges: charges, worker: worker, signals: signals, settings: generationSettings, now: now)
  let presenter = TimepointPresenter(links: try TimepointLinks(settings), blobs: blobs)
  let removal = TimepointRemoval(
    database: database, charges: charges, images: images, blobs: blobs, signals: signals, worker: worker, now: now)
  let interactions = Interactions(database: database, voices: models.voices, now: now)
  let work = ChargedWork(
    database: database, charges: charges, idempotency: idempotency, timeout: generationSettings.timeout, now: now)
  let notifications = try dependencies.directPostgresURL(timepointsSchema).map {
    GenerationNotifications(url: $0, signals: signals, worker: worker)
  }
  let sweeps: [any Service] = [
    ChargeSweep(database: database, logger: logger, now: now), IdempotencySweep(idempotency, logger: logger),
  ]

  return try Server(
    .timepoints, in: dependencies, database: database,
    authenticator: verification.authenticator(serviceKeys, users: users, now: now),
    api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background + [worker, charges, callbacks.outbox] + sweeps + feed.background
      + (notifications.map { [$0] } ?? []),
    requestTimeout: generationSettings.timeout + .seconds(30),
    isReady: { verification.ended.isLoaded && library.isUsable(logger) },
    healthDetails: { models.status.healthDetails }
  ) { routes in
    GenerationRoutes(
      generations: generations, streams: GenerationStreams(database: database, signals: signals), access: access,
      callbacks: callbackRules, providers: models.status, presenter: presenter, now: now
    ).add(to: routes)
    TimepointRoutes(database: database, access: access, images: images, presenter: presenter).add(to: routes)
    OwnerRoutes(
      database: database, access: access, removal: removal, images: images, blobs: blobs, presenter: presenter, now: now
    ).add(to: routes)
    TimeTravelRoutes(generations: generations, access: access, providers: models.status, now: now)
      .add(to: routes)
    InteractionRoutes(
      interactions: interactions, work: work, streams: InteractionStreams(work: work, logger: logger), access: access,
      providers: models.status
    ).add(to: routes)
    ConversationRoutes(database: database, access: access).add(to: routes)
    ModelRoutes(catalog: models.catalog, status: models.status).add(to: routes)
    GenerationAdminRoutes(database: database, adminKey: adminKey).add(to: routes)
    PersonalDataRoutes(
      TimepointsPersonalDataStore(
        database: database, presenter: presenter, removal: removal, outbox: callbacks.outbox),
      now: now
    ).add(to: routes)
  }
}
