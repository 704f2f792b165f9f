/// A body that is read without its decoder, which takes less time. ``JSON`` and `Request.json(_:bytesMax:)` read it so.
package protocol JSONReadable: Decodable {
  /// - Throws: for what the decoder refuses, and for whatever it does not know: the decoder then decides, and finds
  ///   what is wrong.
  init(json: [UInt8]) throws
}
