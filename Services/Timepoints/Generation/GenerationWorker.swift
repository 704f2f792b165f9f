import ClientBodies
import Clients
import Database
import Foundation
import Logging
import Outbox
import ServiceLifecycle
import Web
import Wire

/// Makes the scenes of the jobs, `GENERATIONS_AT_ONCE` at a time. When a process dies, another one goes on from the
/// steps that are stored once the lease has ended.
struct GenerationWorker: Service {
  private let saga: Saga
  private let charges: Charges

  init(_ run: GenerationRun, settings: GenerationSettings, in dependencies: Dependencies) {
    charges = run.charges
    saga = Saga(
      "generations", GenerationJobStore.leases, database: run.database, in: dependencies,
      configuration: WorkerConfiguration(concurrency: settings.atOnce), steps: { try await run.work(on: $0) })
  }

  func run() async throws { try await saga.run() }

  func wakeUp() { saga.wakeUp() }
}

/// One run of a job: from the steps that are stored to the end of its timepoint.
struct GenerationRun: Sendable {
  let database: any Database
  let pipeline: Pipeline
  let charges: Charges
  let images: SceneImages
  let blobs: BlobFolder?
  let callbacks: Callbacks
  let signals: GenerationSignals
  let isCharged: Bool
  let logger: Logger
  let now: @Sendable () -> Date

  func work(on row: SagaRow) async throws {
    let job = try GenerationJob(row)
    do { try await run(job, row) } catch let lost as LeaseLost {
      try await removeFilesOfDeleted(job)
      throw lost
    }
  }

  private func run(_ job: GenerationJob, _ row: SagaRow) async throws {
    var job = job
    if job.failure == nil {
      do { return try await complete(job, row, try await scene(of: job, row)) } catch let failure as PipelineFailure {
        job.failure = StoredFailure(failure.failure)
      } catch let failure as JobFailure {
        job.failure = StoredFailure(failure.failure)
      }
    }
    try await fail(job, row)
  }

  private func scene(of job: GenerationJob, _ row: SagaRow) async throws -> GeneratedScene {
    if try await isGivenUp(job, row) { throw JobFailure(failure: .generationGivenUp) }
    try await row.step { db in try TimepointStore.begin(job.id, on: db) }
    let steps = GenerationSteps(
      row: row, timepoint: job.id, database: database, images: images, signals: signals)
    return try await withLease(of: row) {
      try await pipeline.run(job.input, store: steps) { event in
        if event.wasStored, let body = TimepointProgress(event) {
          // By a version of the service that stored them one after the other.
          try await row.step { db in try GenerationEventStore.append(body, to: job.id, on: db) }
        }
        signals.send(job.id)
      }
    }
  }

  /// What is paid is shown, however often that was tried: all its steps are stored.
  private func isGivenUp(_ job: GenerationJob, _ row: SagaRow) async throws -> Bool {
    let isOld = now().timeIntervalSince(job.createdAt) >= GenerationSettings.jobSecondsMax
    guard isOld || row.tries > GenerationSettings.triesMax else { return false }
    return try await !database.readOnce { db in try ChargeStore.isEarned(job.charge, on: db) }
  }

  /// Renews the lease while `body` runs. When another worker has it, `body` is cancelled.
  private func withLease<T: Sendable>(of row: SagaRow, _ body: @escaping @Sendable () async throws -> T) async throws
    -> T
  {
    try await withThrowingTaskGroup(of: T?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        while true {
          try await Task.sleep(for: .seconds(10))
          try await row.renewLease(at: now())
        }
      }
      defer { group.cancelAll() }
      while let result = try await group.next() {
        if let result { return result }
      }
      throw CancellationError()
    }
  }

  /// Charges, then shows the scene: nobody gets one that could not be charged.
  private func complete(_ job: GenerationJob, _ row: SagaRow, _ scene: GeneratedScene) async throws {
    if isCharged, try await !charges.capture(job.charge) { throw JobFailure(failure: .creditsGone) }
    let byteCount = scene.image?.hasImage == true ? try await images.byteCount(of: job.id) : nil
    let folder = job.writesBlob ? blobs?.newFolder(for: job.id, at: job.createdAt) : nil
    if let folder { try await blobs?.write(scene, of: job.id, images, to: folder) }
    let (now, callbacks) = (now(), callbacks)
    let milliseconds = Int(now.timeIntervalSince(job.createdAt) * 1000)
    try await row.step(last: true) { db in
      guard let timepoint = try TimepointStore.find(job.id, on: db) else { return }
      let cost = try ChargeStore.hold(of: job.charge, on: db)?.cost ?? 0
      try TimepointStore.complete(
        job.id, scene, imageByteCount: byteCount, charged: cost, at: now, milliseconds: milliseconds, on: db)
      if let folder { try TimepointStore.recordBlob(job.id, folder: folder, at: now, on: db) }
      try GenerationEventStore.append(
        .done(timepoint, scene, hasImage: byteCount != nil, milliseconds: milliseconds), to: job.id, on: db)
      try end(job, timepoint, .completed, title: scene.title, callbacks, at: now, on: db)
    }
    ended(job)
  }

  private func fail(_ job: GenerationJob, _ row: SagaRow) async throws {
    guard let failure = job.failure else { return }
    try await decideFailure(of: job, failure, row)
    if isCharged { try await charges.release(job.charge) }
    try await images.delete([job.id])
    let (now, callbacks) = (now(), callbacks)
    try await row.step(last: true) { db in
      guard let timepoint = try TimepointStore.find(job.id, on: db) else { return }
      try TimepointStore.fail(job.id, failure, at: now, on: db)
      try GenerationEventStore.append(.failed(failure), to: job.id, on: db)
      try end(job, timepoint, .failed, callbacks, at: now, on: db)
    }
    logger.notice("a generation failed", metadata: ["timepoint": "\(job.id)", "code": "\(failure.code)"])
    ended(job)
  }

  /// Decides that the job fails, and with it that its credits are given back. Another worker, whose lease has ended, may
  /// have charged the scene meanwhile: then it is shown.
  ///
  /// - Throws: ``PaidMeanwhile``; the next run completes the scene.
  private func decideFailure(of job: GenerationJob, _ failure: StoredFailure, _ row: SagaRow) async throws {
    let due = now()
    try await row.step { db in
      let isVoid = try ChargeStore.decide(job.charge, .void, due: due, on: db)
      if try !isVoid && ChargeStore.isEarned(job.charge, on: db) { throw PaidMeanwhile() }
      try GenerationJobStore.recordFailure(of: job.id, failure, on: db)
    }
  }

  private func end(
    _ job: GenerationJob, _ timepoint: Timepoint, _ status: Timepoint.Status, title: String? = nil,
    _ callbacks: Callbacks, at now: Date, on db: any Connection
  ) throws {
    try GenerationSteps.delete(of: job.id, on: db)
    try GenerationJobStore.end(job.id, of: job.owner, at: now, on: db)
    TimepointEvents.ended(timepoint, status, title: title, at: now, on: db)
    try signals.notify(job.id, isEnd: true, on: db)
    // The next one of its user may be due now.
    try signals.notifyOfJobs(on: db)
    if let url = job.callbackURL { try callbacks.add(url, timepoint, status, at: now, on: db) }
  }

  private func ended(_ job: GenerationJob) {
    callbacks.wakeUp()
    signals.send(job.id, isEnd: true)
  }

  /// The owner has deleted it while its files were written.
  private func removeFilesOfDeleted(_ job: GenerationJob) async throws {
    guard try await database.read({ db in try TimepointStore.find(job.id, on: db) }) == nil else { return }
    try await images.delete([job.id])
    if let blobs { try await blobs.delete(blobs.newFolder(for: job.id, at: job.createdAt)) }
  }
}

private struct PaidMeanwhile: Error {}

/// Why a job ends without a scene, other than for the pipeline.
private struct JobFailure: Error {
  let failure: Failure
}

extension Failure {
  static let generationGivenUp = Failure(
    .unavailable, "generation_given_up", "The scene could not be made. Please try again.")
  static let creditsGone = Failure(
    .conflict, "credits_released", "The credits for this scene were given back before it was done.")
}
