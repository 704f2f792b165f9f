import Foundation
import Wire

/// The subject of a stored event's id.
enum BillingEvent {}
typealias BillingEventID = ID<BillingEvent>

/// A received event of a provider, with its decrypted body.
struct StoredBillingEvent: Sendable {
  let id: BillingEventID
  let provider: PurchaseProvider
  /// The provider's id of the event.
  let eventID: String
  /// The provider's type of the event.
  let kind: String
  /// As it was received.
  let body: Data
  let receivedAt: Date
  /// How often it has been tried, this time included.
  let tries: Int
}

/// Applies the events of one provider.
protocol BillingEventProcessor: Sendable {
  /// Applies an event. Events come in any order, several at a time, and more than once, as the process may stop before
  /// the event is marked as done: applying them again must change nothing.
  ///
  /// - Returns: the user whom the event is about, with whom the event is erased; nil when there is none.
  /// - Throws: ``ParkedEvent`` for an event that an operator has to look at, ``IgnoredEvent`` for one that means nothing
  ///   here; any other error for a retry.
  func process(_ event: StoredBillingEvent) async throws -> UserID?
}

/// An event that cannot be applied as it is: it waits until an operator retries it.
struct ParkedEvent: Error, CustomStringConvertible {
  /// For operators: no personal data.
  let description: String

  init(_ reason: String) { description = reason }
}

/// An event that changes nothing here.
struct IgnoredEvent: Error, CustomStringConvertible {
  /// For operators: no personal data.
  let description: String

  init(_ reason: String) { description = reason }
}
