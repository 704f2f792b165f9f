import Foundation
import Wire

/// An outgoing message, or an incoming one of an inbox, that is stored in the transaction of its cause and delivered
/// later.
package struct OutboxMessage: Sendable {
  /// The same in every try, so that the receiver can detect duplicates.
  package let id: String
  package let kind: String
  package let content: Data
  /// How often the message has been tried, this time included.
  package let tries: Int

  /// - Throws: `DecodingError` when the content is not a `T`.
  package func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T { try JSON.decode(T.self, from: content) }
}
