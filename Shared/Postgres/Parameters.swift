import Database

/// The bindings of a statement in libpq's format: one block of memory, pointers into it, text terminated by NUL.
struct Parameters {
  private var storage: [CChar] = []
  private var offsets: [Int?] = []
  private var lengths: [Int32] = []
  private var formats: [Int32] = []

  init(_ bindings: [Value]) throws {
    for binding in bindings {
      switch binding {
      case .null: append(nil, format: 0)
      case .integer(let number): append(String(number).utf8.map { CChar(bitPattern: $0) }, format: 0)
      case .text(let text):
        guard !text.utf8.contains(0) else { throw DatabaseFailure.nulInText }
        append(text.utf8.map { CChar(bitPattern: $0) }, format: 0)
      case .bytes(let bytes): append(bytes.map { CChar(bitPattern: $0) }, format: 1)
      }
    }
  }

  private mutating func append(_ bytes: [CChar]?, format: Int32) {
    offsets.append(bytes == nil ? nil : storage.count)
    lengths.append(Int32(clamping: bytes?.count ?? 0))
    formats.append(format)
    if let bytes { storage += bytes + [0] }
  }

  func withPointers<T>(
    _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) throws -> T
  ) rethrows -> T {
    try storage.withUnsafeBufferPointer { storage in
      let values = offsets.map { offset in offset.flatMap { storage.baseAddress?.advanced(by: $0) } }
      return try body(Int32(values.count), values, lengths, formats)
    }
  }
}
