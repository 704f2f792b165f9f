import Clients
import Database
import Foundation
import Hummingbird
import Outbox
import Tokens
import Web

/// All that there is to photos, put together: their routes, and what clears them away.
struct PhotoParts: Sendable {
  let sweep: PhotoSweep
  let outbox: Outbox
  private let routes: PhotoRoutes
  private let fileRoutes: PhotoFileRoutes

  /// - Parameter deliveries: what else goes out by the same outbox.
  /// - Throws: ``StartFailure`` when they cannot be kept where `PHOTO_STORAGE` says.
  init(
    in surroundings: Surroundings, database: any Database, keys: DataKeys, idempotency: Idempotency, users: UsersClient,
    sights: PhotoSights, deliveries: [Delivery]
  ) throws {
    let (settings, now) = (surroundings.settings, surroundings.now)
    let storage = try PhotoStorage(settings, logger: surroundings.logger)
    outbox = Outbox(
      database: database, keys: keys, in: surroundings,
      deliveries: deliveries + [FirstPhotos.delivery(of: database, logger: surroundings.logger, now: now)])
    let news = FirstPhotos(outbox: outbox, areWanted: try settings.bool("PHOTO_EVENTS", default: false))
    let photos = Photos(
      store: PhotoStore(database: database, sights: sights), files: storage.files, local: storage.local,
      renderer: PhotoRenderer(),
      idempotency: idempotency, news: news, now: now)
    let base = settings.string("PUBLIC_URL", default: "http://127.0.0.1:8080")
    let links = PhotoLinks(keys: keys, base: base.hasSuffix("/") ? String(base.dropLast()) : base)
    let receiver = PhotoReceiver(folder: storage.local.incoming)
    sweep = PhotoSweep(
      remains: PhotoRemains(database: database), files: storage.files, local: storage.local,
      logger: surroundings.logger, now: now)
    routes = PhotoRoutes(photos: photos, receiver: receiver, links: links, users: users, now: now)
    fileRoutes = PhotoFileRoutes(photos: photos, receiver: receiver, links: links, now: now)
  }

  func add(to router: Router<Context>) {
    routes.add(to: router)
    fileRoutes.add(to: router)
  }
}
