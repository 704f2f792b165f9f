import NIOCore
import Web

extension ByteBuffer {
  /// Writes a time in milliseconds with three decimal places.
  mutating func writeMilliseconds(_ time: TimeAmount) {
    let microseconds = Int(max(time.nanoseconds, 0) / 1000)
    writeDecimal(microseconds / 1000)
    writeStaticString(".")
    for digit in [microseconds / 100 % 10, microseconds / 10 % 10, microseconds % 10] { writeDecimal(digit) }
  }
}
