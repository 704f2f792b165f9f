import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle
import Web
import Wire

/// Writes one response of server-sent events: what the log has after the reader's position, then what is appended, in
/// the order of each topic and each once.
struct EventStream: Sendable {
  let store: LogStore
  let watch: StreamWatch
  let credential: Credential
  let verifier: CredentialVerifier
  let metrics: EventMetrics
  /// Between two comments while nothing happens.
  var commentInterval = Duration.seconds(15)

  /// How soon the end of a session is noticed.
  private static let checkInterval = Duration.seconds(1)

  func write(from start: StreamPosition, to writer: inout any ResponseBodyWriter) async throws {
    var position = start
    try await writer.onClientEnd { [watch] in watch.clientEnded() }
    try await begin(&position, &writer)
    var writtenAt = ContinuousClock.now
    while !Task.isCancelled {
      let version = watch.signal.version
      let work = watch.take()
      // First, as a stream whose right has ended reads no more of the log.
      if let message = endMessage(work) {
        if work.isEndOfTopic { _ = try await write(work, &position, &writer) }
        return try await writer.write(Self.end(message))
      }
      if try await write(work, &position, &writer) { writtenAt = .now }
      if work.isStopped { return }
      if work.mayBeUnread || ContinuousClock.now - writtenAt >= commentInterval {
        try await writer.write(ByteBuffer(string: ":\n\n"))
        writtenAt = .now
      }
      await watch.signal.wait(after: version, atMost: Self.checkInterval)
    }
  }

  /// Asked before each page of the log, of which a slow reader reads for long.
  private var mayReadOn: Bool { !watch.hasEnded && verifier.rejection(of: credential, at: verifier.now()) == nil }

  private func endMessage(_ work: StreamWatch.Work) -> String? {
    if let message = work.endMessage {
      metrics.refused(.rights)
      return message
    }
    guard let rejected = verifier.rejection(of: credential, at: verifier.now()) else { return nil }
    metrics.refused(.token)
    return rejected.message
  }

  /// Tells the reader at once where it stands, so that it can resume before the first event.
  private func begin(_ position: inout StreamPosition, _ writer: inout any ResponseBodyWriter) async throws {
    var resumed: [String] = []
    for topic in position.topics {
      let top = try await store.top(of: topic.text)
      if position.numbers[topic.text] == nil {
        position.begin(at: top.seq, in: topic.text, top.epoch)
      } else {
        // Of another epoch than the log, the number is a gap.
        position.assumeEpoch(top.epoch, of: topic.text)
        resumed.append(topic.text)
      }
    }
    try await writer.write(ByteBuffer(string: "retry: 2000\nid: \(position.text)\n\n"))
    for topic in resumed { try await readLog(of: topic, &position, &writer) }
  }

  /// - Returns: whether anything was written.
  private func write(
    _ work: StreamWatch.Work, _ position: inout StreamPosition, _ writer: inout any ResponseBodyWriter
  ) async throws -> Bool {
    if work.isBehind {
      for topic in watch.topics { try await readLog(of: topic, &position, &writer) }
    }
    for (topic, entry) in work.entries where entry.seq > position[topic] {
      if entry.seq == position[topic] + 1 {
        try await write(entry, of: topic, &position, &writer)
      } else {
        try await readLog(of: topic, &position, &writer)
      }
    }
    return work.isBehind || !work.entries.isEmpty
  }

  private func readLog(
    of topic: String, _ position: inout StreamPosition, _ writer: inout any ResponseBodyWriter
  ) async throws {
    while !Task.isCancelled, mayReadOn {
      let page = try await store.page(
        of: topic, after: position[topic], epoch: position.epochs[topic], for: credential.user)
      switch page {
      case .entries(let entries, _):
        for entry in entries { try await write(entry, of: topic, &position, &writer) }
        guard entries.count == LogStore.pageSize else { return }
      case .gap(let gap):
        metrics.refused(.gap)
        position.begin(at: gap.top, in: topic, gap.epoch)
        try await writer.write(Self.gap(gap, of: topic, position))
      }
    }
  }

  private func write(
    _ entry: LogEntry, of topic: String, _ position: inout StreamPosition, _ writer: inout any ResponseBodyWriter
  ) async throws {
    position.move(to: entry.seq, in: topic)
    let event = entry.event.seen(by: credential.user)
    let body = """
      {"topic":"\(topic)","seq":\(entry.seq),"id":"\(event.id)",\
      "at":"\(RFC3339.milliseconds(event.at))","payload":\(event.payload)}
      """
    try await writer.write(Self.message(event.name, body, id: position.text))
  }

  private static func gap(_ gap: LogGap, of topic: String, _ position: StreamPosition) -> ByteBuffer {
    let body = #"{"topic":"\#(topic)","oldest":\#(gap.oldest),"seq":\#(gap.top),"epoch":"\#(gap.epoch)"}"#
    return message("gap", body, id: position.text)
  }

  /// The reader connects again, and is refused with a status if it may not.
  private static func end(_ message: String) throws -> ByteBuffer {
    let body = try JSON.encode(["status": "error", "message": message])
    return self.message("system", String(decoding: body, as: UTF8.self), id: nil)
  }

  private static func message(_ name: String, _ body: String, id: String?) -> ByteBuffer {
    ByteBuffer(string: "event: \(name)\n" + (id.map { "id: \($0)\n" } ?? "") + "data: \(body)\n\n")
  }
}
