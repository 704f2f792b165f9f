/// The maximum sizes of the parts of a message head.
package enum HTTPLimits {
  package static let headBytesMax = 16 * 1024
  package static let targetBytesMax = 8 * 1024
  package static let fieldsMax = 64
  package static let fieldNameBytesMax = 64
  package static let methodBytesMax = 16
}
