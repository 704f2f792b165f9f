/// The maximum sizes of a message head.
package struct HTTPLimits: Sendable {
  package let headBytesMax: Int
  package let fieldsMax: Int

  /// For requests of clients, and for responses of services.
  package static let clients = HTTPLimits(headBytesMax: 16 * 1024, fieldsMax: 64)
  /// For requests to services: what the gateway adds must fit, too.
  package static let services = HTTPLimits(headBytesMax: 24 * 1024, fieldsMax: 96)

  package static let targetBytesMax = 8 * 1024
  package static let fieldNameBytesMax = 64
  package static let methodBytesMax = 16
}
