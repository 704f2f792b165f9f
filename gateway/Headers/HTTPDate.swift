import Wire

extension HTTPDate {
  /// The whole header line, with its CRLF.
  static func line(_ second: Int64) -> [UInt8] { Array("date: \(text(Int(second)))\r\n".utf8) }
}
