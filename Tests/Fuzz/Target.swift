/// Called by libFuzzer with bytes of its own making (`make fuzz`).
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let input = Array(UnsafeBufferPointer(start: bytes, count: count))
  if let broken = Property.broken(by: input) { fatalError(broken) }
  return 0
}
