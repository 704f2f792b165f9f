import Clients
import Database
import Foundation
import Hummingbird
import Photos
import Tokens
import Web

/// Wires the parts of `/storage/v1`: storage, uploads, access, routes and sweep.
struct StoredObjectModule: Sendable {
  let sweep: DiscardedFileSweep
  private let routes: StoredObjectRoutes
  private let fileRoutes: StoredObjectFileRoutes
  private let internalRoutes: InternalStoredObjectRoutes

  /// - Parameter library: what renders pictures.
  /// - Throws: ``StartFailure`` when `PHOTO_STORAGE` is invalid or its folder cannot be created.
  init(in dependencies: Dependencies, database: any Database, keys: DataKeys, library: VipsLibrary) throws {
    let now = dependencies.now
    let storage = try PhotoStorage(dependencies.settings, part: "objects", logger: dependencies.logger)
    let (store, discarded) = (StoredObjectStore(database: database), DiscardedFileStore(database: database))
    let adventures = AdventuresClient(in: dependencies)
    let access = StoredObjectAccess(store: store) { try await adventures.shows($0, to: $1) }
    let links = StoredObjectLinks(keys: keys)
    let uploads = StoredObjectUploads(
      store: store, discarded: discarded, files: storage.files, renderer: PhotoRenderer(library: library),
      reader: PhotoUploadReader(folder: storage.local.incoming), now: now)
    sweep = DiscardedFileSweep(
      store: discarded, files: storage.files, local: storage.local, logger: dependencies.logger, now: now,
      writes: dependencies.writes, pollInterval: dependencies.pollInterval)
    routes = StoredObjectRoutes(store: store, uploads: uploads, access: access, links: links, now: now)
    fileRoutes = StoredObjectFileRoutes(access: access, files: storage.files, links: links, now: now)
    internalRoutes = InternalStoredObjectRoutes(store: store, now: now)
  }

  func add(to router: HTTPRoutes) {
    routes.add(to: router)
    fileRoutes.add(to: router)
    internalRoutes.add(to: router)
  }
}
