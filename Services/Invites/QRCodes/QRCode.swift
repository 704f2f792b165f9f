import CQREncode
import Wire

/// A QR code (ISO/IEC 18004) of a text, in bytes and with error correction of level M.
struct QRCode: Sendable {
  /// Modules on a side, without the quiet zone.
  let width: Int
  private let isDark: [Bool]

  /// The quiet zone around it, in modules (§9.1).
  static let border = 4

  /// - Throws: when the text has more than about two thousand bytes.
  init(of text: String) throws(Failure) {
    guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { throw .broken }
    defer { QRcode_free(code) }
    width = Int(code.pointee.width)
    // The lowest bit of a module is its colour.
    isDark = UnsafeBufferPointer(start: code.pointee.data, count: width * width).map { $0 & 1 == 1 }
  }

  /// Whether a module is dark; false in the quiet zone.
  func isDark(x: Int, y: Int) -> Bool {
    guard (0..<width).contains(x), (0..<width).contains(y) else { return false }
    return isDark[y * width + x]
  }

  /// An SVG document of one unit a module.
  var svg: String {
    let side = width + 2 * Self.border
    var path = ""
    for y in 0..<width {
      for x in 0..<width where isDark(x: x, y: y) { path += "M\(x + Self.border),\(y + Self.border)h1v1h-1z" }
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges">\
      <rect width="\(side)" height="\(side)" fill="#fff"/><path fill="#000" d="\(path)"/></svg>
      """
  }

  /// A PNG image of eight pixels a module, with one bit for each pixel.
  var png: [UInt8] {
    let scale = 8
    let side = (width + 2 * Self.border) * scale
    var rows: [UInt8] = []
    for y in 0..<side {
      // Each row begins with the type of its filter: none.
      rows.append(0)
      // A byte is eight pixels, which are one module.
      for x in 0..<side / scale { rows.append(isDark(x: x - Self.border, y: y / scale - Self.border) ? 0x00 : 0xFF) }
    }
    return PNGFile.bitmap(width: side, height: side, rows: rows)
  }
}
