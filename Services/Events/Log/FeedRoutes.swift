import Foundation
import Hummingbird
import Web
import Wire

/// `POST /internal/events`, by which every service delivers what has happened.
struct FeedRoutes: Sendable {
  let store: LogStore
  let tail: LogTail
  let metrics: EventMetrics
  let pushes: PushModule
  let now: @Sendable () -> Date

  private static let bytesMax = 8 * 1024 * 1024

  func add(to routes: HTTPRoutes) {
    routes.group(context: ServiceCaller.self)
      .add(middleware: RequiresService(Set(ServiceName.allCases.map(\.rawValue))))
      .post("/internal/events", use: append)
  }

  @Sendable private func append(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let batch = try await request.json(EncodedFeedBatch.self, bytesMax: Self.bytesMax)
    try batch.requireValid()
    let now = now()
    let appended = try await store.append(batch.events, at: now) { [pushes] events, db in
      try pushes.appended(events, at: now, on: db)
    }
    let accepted = appended.events.count
    await tail.append(appended)
    if accepted > 0 { pushes.wakeUp() }
    metrics.appended(accepted, from: context.service.name)
    return .json(FeedBatchAccepted(accepted: accepted))
  }
}

extension EncodedFeedBatch {
  /// - Throws: a validation failure that names what is wrong.
  fileprivate func requireValid() throws(Failure) {
    guard events.count <= FeedBatch.eventsMax else {
      throw .invalid(.init("events", "must have at most \(FeedBatch.eventsMax) events"))
    }
    for (index, event) in events.enumerated() { try event.requireValid(at: "events.\(index)") }
  }
}

extension EncodedFeedEvent {
  fileprivate func requireValid(at path: String) throws(Failure) {
    guard (1...FeedEvent.topicsMax).contains(topics.count), topics.allSatisfy(FeedNames.isTopic) else {
      throw .invalid(.init("\(path).topics", "must have 1 to \(FeedEvent.topicsMax) topics like lists:42"))
    }
    guard FeedNames.isEvent(name) else {
      throw .invalid(.init("\(path).name", "must be in snake case"))
    }
    guard hasObjectPayload else { throw .invalid(.init("\(path).payload", "must be an object")) }
    guard rowCount <= FeedEvent.changesMax + 1 else {
      throw .invalid(.init("\(path).changes", "must have at most \(FeedEvent.changesMax) further rows"))
    }
    guard hasObjectRecords else { throw .invalid(.init("\(path).change", "must have objects as records")) }
  }
}
