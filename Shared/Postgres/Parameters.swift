import Database

/// The bindings of a statement in libpq's format: one block of memory, pointers into it, text terminated by NUL.
struct Parameters {
  private var storage: [UInt8] = []
  private var offsets: [Int?] = []
  private var lengths: [Int32] = []
  private var formats: [Int32] = []

  init(_ bindings: [Value]) throws {
    for binding in bindings {
      switch binding {
      case .null: appendNull()
      case .integer(let number): append(String(number).utf8, format: 0)
      case .text(let text):
        guard !text.utf8.contains(0) else { throw DatabaseFailure.nulInText }
        append(text.utf8, format: 0)
      case .bytes(let bytes): append(bytes, format: 1)
      }
    }
  }

  private mutating func appendNull() {
    offsets.append(nil)
    lengths.append(0)
    formats.append(0)
  }

  private mutating func append(_ bytes: some Collection<UInt8>, format: Int32) {
    offsets.append(storage.count)
    lengths.append(Int32(clamping: bytes.count))
    formats.append(format)
    storage.append(contentsOf: bytes)
    storage.append(0)
  }

  func withPointers<T>(
    _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) throws -> T
  ) rethrows -> T {
    try storage.withUnsafeBufferPointer { storage in
      try storage.withMemoryRebound(to: CChar.self) { storage in
        let values = offsets.map { offset in offset.flatMap { storage.baseAddress?.advanced(by: $0) } }
        return try body(Int32(values.count), values, lengths, formats)
      }
    }
  }
}
