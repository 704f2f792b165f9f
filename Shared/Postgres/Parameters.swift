import Database
import Wire

/// The bindings of a statement in libpq's format: one block of memory, pointers into it, text terminated by NUL.
struct Parameters {
  private var storage: [UInt8] = []
  private var offsets: [Int?] = []
  private var lengths: [Int32] = []
  private var formats: [Int32] = []

  init(_ bindings: [Value]) throws {
    offsets.reserveCapacity(bindings.count)
    lengths.reserveCapacity(bindings.count)
    formats.reserveCapacity(bindings.count)
    storage.reserveCapacity(Self.usualBytes * bindings.count)
    for binding in bindings { try append(binding) }
  }

  /// An id with its NUL, and a bit.
  private static let usualBytes = 40

  private mutating func append(_ binding: Value) throws {
    let start = storage.count
    switch binding {
    case .null: break
    case .integer(let number): storage.append(utf8: String(number))
    case .text(let text):
      storage.append(utf8: text)
      guard !storage[start...].contains(0) else { throw DatabaseFailure.nulInText }
    case .bytes(let bytes): storage += bytes
    }
    lengths.append(Int32(clamping: storage.count - start))
    offsets.append(binding == .null ? nil : start)
    if case .bytes = binding { formats.append(1) } else { formats.append(0) }
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
