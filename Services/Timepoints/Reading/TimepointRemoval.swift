import Database
import Foundation
import Wire

/// Deletes timepoints with everything that belongs to them.
struct TimepointRemoval: Sendable {
  let database: any Database
  let charges: Charges
  let images: SceneImages
  let blobs: BlobFolder?
  let signals: GenerationSignals
  let worker: GenerationWorker
  let now: @Sendable () -> Date

  /// One that is being made is called off, and its credits are given back. Safe to repeat after a crash: its files are
  /// deleted first.
  func delete(_ id: TimepointID, by viewer: Viewer) async throws {
    let timepoint = try await database.read { db in
      guard let found = try TimepointStore.find(id, on: db) else { throw Failure.timepointNotFound }
      // Also one that is marked as deleted.
      guard viewer.owns(found) else {
        try viewer.requireVisible(found)
        throw Failure.notOwner
      }
      return found
    }
    try await deleteFiles(of: [timepoint])
    let now = now()
    let wasUnfinished = try await database.write { db in
      let hadJob = try callOff(timepoint, at: now, on: db)
      try TimepointStore.delete(id, on: db)
      return hadJob
    }
    if wasUnfinished { try await calledOff(id) }
  }

  /// It stays in its owner's export until it is deleted for good. One that is being made is called off as well, unless
  /// it is paid: then it is completed, for the export.
  func markDeleted(_ id: TimepointID, by viewer: Viewer) async throws {
    do { try await markDeleted(id, by: viewer, callsOff: true) } catch is Paid {
      try await markDeleted(id, by: viewer, callsOff: false)
    }
  }

  private struct Paid: Error {}

  /// - Throws: ``Paid`` when it would call off one whose credits are captured or will be.
  private func markDeleted(_ id: TimepointID, by viewer: Viewer, callsOff: Bool) async throws {
    let now = now()
    let wasUnfinished = try await database.write { db in
      let timepoint = try TimepointStore.own(id, of: viewer, on: db)
      try TimepointStore.markDeleted(id, at: now, on: db)
      guard callsOff, try callOff(timepoint, at: now, on: db) else { return false }
      // Decided by then, so it stays so.
      if try ChargeStore.isEarned(ChargeID(id.uuid), on: db) { throw Paid() }
      let failure = StoredFailure(.generationCalledOff)
      try TimepointStore.fail(id, failure, at: now, on: db)
      try GenerationEventStore.append(.failed(failure), to: id, on: db)
      try GenerationSteps.delete(of: id, on: db)
      return true
    }
    if wasUnfinished { try await calledOff(id) }
  }

  /// - Returns: false when it has ended.
  private func callOff(_ timepoint: Timepoint, at now: Date, on db: any Connection) throws -> Bool {
    guard try GenerationJobStore.end(timepoint.id, of: timepoint.owner, at: now, on: db) else { return false }
    _ = try ChargeStore.decide(ChargeID(timepoint.id.uuid), .void, due: now, on: db)
    try signals.notify(timepoint.id, isEnd: true, on: db)
    try signals.notifyOfJobs(on: db)
    return true
  }

  private func calledOff(_ id: TimepointID) async throws {
    signals.send(id, isEnd: true)
    worker.wakeUp()
    try await charges.release(ChargeID(id.uuid))
  }

  func deleteFiles(of timepoints: [Timepoint]) async throws {
    try await images.delete(timepoints.map(\.id))
    guard let blobs else { return }
    for timepoint in timepoints {
      // A folder may be written and not recorded, while the timepoint is not completed.
      try await blobs.delete(timepoint.blobFolder ?? blobs.newFolder(for: timepoint.id, at: timepoint.createdAt))
    }
  }
}

extension Failure {
  fileprivate static let generationCalledOff = Failure(
    .conflict, "generation_called_off", "The scene was deleted before it was done.")
}
