import NIOCore
import Web
import Wire

/// The internal API of the events service.
package struct EventsClient: Sendable {
  private let client: ServiceClient

  package init(in dependencies: Dependencies) { client = ServiceClient(.events, in: dependencies) }

  /// Delivers events. Safe to repeat: an event is stored once for its id.
  ///
  /// - Parameter encoded: the JSON of a ``FeedEvent`` each, at most ``FeedBatch/eventsMax`` of them.
  /// - Throws: 400 or 422 for an event that would be refused again.
  package func deliver(_ encoded: [String]) async throws -> FeedBatchAccepted {
    var body = ByteBuffer()
    body.reserveCapacity(encoded.reduce(16) { $0 + $1.utf8.count + 1 })
    body.writeString(#"{"events":["#)
    for (index, event) in encoded.enumerated() {
      if index > 0 { body.writeString(",") }
      body.writeString(event)
    }
    body.writeString("]}")
    return try await client.call(.POST, "/internal/events", json: body, isRepeatable: true)
  }

  /// Hands devices over that were registered elsewhere. Safe to repeat.
  ///
  /// - Parameter devices: at most ``TransferredDevices/countMax``.
  package func take(over devices: [TransferredDevice]) async throws {
    _ = try await client.call(
      .POST, "/internal/devices", body: TransferredDevices(devices: devices), isRepeatable: true, as: JSONValue.self)
  }
}
