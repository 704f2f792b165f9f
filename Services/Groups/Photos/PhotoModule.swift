import Clients
import Database
import Foundation
import Hummingbird
import Outbox
import Photos
import Tokens
import Web

/// Wires the parts of photos: storage, upload pipeline, routes, outbox and sweep.
struct PhotoModule: Sendable {
  let sweep: PhotoSweep
  let outbox: Outbox
  private let routes: PhotoRoutes
  private let fileRoutes: PhotoFileRoutes

  /// - Parameters:
  ///   - library: what renders photos.
  ///   - deliveries: further kinds of messages of the same outbox.
  /// - Throws: ``StartFailure`` when `PHOTO_STORAGE` is invalid or its folder cannot be created.
  init(
    in dependencies: Dependencies, database: any Database, keys: DataKeys, idempotency: Idempotency, users: UsersClient,
    photoAccess: PhotoAccessCache, library: VipsLibrary, deliveries: [Delivery]
  ) throws {
    let (settings, now) = (dependencies.settings, dependencies.now)
    let storage = try PhotoStorage(settings, logger: dependencies.logger)
    outbox = Outbox(
      database: database, keys: keys, in: dependencies,
      deliveries: deliveries + [FirstPhotoNotifications.delivery(of: database, now: now)])
    let notifications = FirstPhotoNotifications(
      outbox: outbox, isEnabled: try settings.bool("PHOTO_EVENTS", default: true))
    let pipeline = PhotoUploadPipeline(
      store: PhotoStore(database: database, photoAccess: photoAccess), files: storage.files, local: storage.local,
      renderer: PhotoRenderer(library: library), idempotency: idempotency, notifications: notifications, now: now)
    let links = PhotoLinks(keys: keys, base: settings.publicOrigin)
    let uploadReader = PhotoUploadReader(folder: storage.local.incoming)
    sweep = PhotoSweep(
      store: PhotoSweepStore(database: database), files: storage.files, local: storage.local,
      logger: dependencies.logger, now: now, writes: dependencies.writes, pollInterval: dependencies.pollInterval)
    routes = PhotoRoutes(pipeline: pipeline, uploadReader: uploadReader, links: links, users: users, now: now)
    fileRoutes = PhotoFileRoutes(pipeline: pipeline, uploadReader: uploadReader, links: links, now: now)
  }

  func add(to router: HTTPRoutes) {
    routes.add(to: router)
    fileRoutes.add(to: router)
  }
}
