import Foundation
import SystemPackage

/// Writes whole lines to a file.
struct LineWriter {
  private let file: FileDescriptor
  /// Whether the last line in the file was cut off by an error.
  private var isLineCut = false
  private static let newline = UInt8(ascii: "\n")

  init(_ file: FileHandle) { self.file = FileDescriptor(rawValue: file.fileDescriptor) }

  /// Returns when all lines are written, or after an error, such as a full disk or a pipe that nobody reads any more.
  ///
  /// - Returns: how many lines were not written, or not entirely.
  mutating func write(_ lines: [UInt8]) -> Int {
    if isLineCut { isLineCut = writtenCount([Self.newline]) == 0 }
    let count = isLineCut ? 0 : writtenCount(lines)
    if count > 0 { isLineCut = lines[count - 1] != Self.newline }
    return lines[count...].count { $0 == Self.newline }
  }

  private func writtenCount(_ bytes: [UInt8]) -> Int {
    bytes.withUnsafeBytes { bytes in
      var count = 0
      while count < bytes.count {
        do { count += try file.write(UnsafeRawBufferPointer(rebasing: bytes[count...])) } catch Errno.wouldBlock {
          // Another process has made the same pipe or terminal non-blocking.
          Thread.sleep(forTimeInterval: 0.005)
        } catch { return count }
      }
      return count
    }
  }
}
