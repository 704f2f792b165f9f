import ClientBodies
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

/// One event of a stream of an interaction.
typealias InteractionPiece = InteractionEvent<Wire.JSONValue>

typealias InteractionReceiver = @Sendable (InteractionPiece) -> Void

extension InteractionPiece {
  static func token(_ text: String, by character: SceneCharacter) -> Self {
    Self(event: "token", data: .string(text), characterName: character.name)
  }

  /// - Throws: `EncodingError`.
  static func line(_ body: some Encodable, by characterName: String) throws -> Self {
    Self(event: "line", data: try .init(encoding: body), characterName: characterName)
  }

  static func done(_ body: Wire.JSONValue) -> Self { Self(event: "done", data: body, characterName: nil) }

  static func error(_ detail: Wire.JSONValue, code: String?) -> Self {
    Self(event: "error", data: detail, characterName: nil, code: code)
  }
}
