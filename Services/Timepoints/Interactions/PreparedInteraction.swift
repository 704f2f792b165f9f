import Database
import Web
import Wire

/// An interaction that is allowed, with the scene and the characters that it is about. Nothing is held for it yet.
struct PreparedInteraction: Sendable {
  let timepoint: TimepointID
  let viewer: Viewer
  /// nil for a request without an `Idempotency-Key`.
  let call: IdempotentCall?
  /// Makes the answer. When there is a receiver, it gets the pieces of the answer as they come.
  let answer: @Sendable (_ receiver: InteractionReceiver?) async throws -> InteractionAnswer
}

/// An answer that is made, and neither charged nor stored.
struct InteractionAnswer: Sendable {
  /// Stores what is to be kept, in the transaction that charges it, and returns the reply.
  let reply: @Sendable (any Connection) throws -> Reply
}

typealias InteractionReceiver = @Sendable (InteractionEventBody) -> Void

/// One event of a stream of an interaction.
struct InteractionEventBody: Encodable, Sendable {
  enum Name: String, Encodable, Sendable { case token, line, done, error }

  let event: Name
  let data: JSONValue
  @NullCodable var character_name: String?

  init(_ event: Name, _ data: JSONValue, by character: String? = nil) {
    self.event = event
    self.data = data
    _character_name = NullCodable(wrappedValue: character)
  }
}
