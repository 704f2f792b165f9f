/// A failure of a delivery that says whether a retry makes sense. ``Delivery`` gives up the message when it does not.
package protocol RetryableFailure: Error, CustomStringConvertible {
  var isRetryable: Bool { get }
  /// The delay that the receiver asks for before a retry.
  var retryAfter: Duration? { get }
}
