import Crypto
import Foundation

/// Reads the files of a tar archive one after the other.
struct TarReader: ~Copyable {
  private let file: FileHandle

  init(path: String) throws {
    do { file = try FileHandle(forReadingFrom: URL(filePath: path)) } catch {
      throw BackupFailure("\(path) cannot be read")
    }
  }

  /// The header of the next file, whose contents must be read next; nil at the end.
  func next() throws -> TarHeader? { try TarHeader(try read(TarHeader.blockSize)) }

  /// Reads the contents of a file in pieces.
  func contents(of header: TarHeader, _ body: (Data) throws -> Void) throws -> BackupManifest.File {
    var (hash, remaining) = (SHA256(), header.size)
    while remaining > 0 {
      let bytes = Data(try read(min(remaining, 1 << 20)))
      hash.update(data: bytes)
      try body(bytes)
      remaining -= bytes.count
    }
    _ = try read((TarHeader.blockSize - header.size % TarHeader.blockSize) % TarHeader.blockSize)
    return BackupManifest.File(name: header.name, bytes: header.size, sha256: hash.finalize().hex)
  }

  /// - Throws: ``BackupFailure`` when the archive ends before that.
  private func read(_ count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      guard let more = try file.read(upToCount: count - bytes.count), !more.isEmpty else {
        throw BackupFailure("it is incomplete, or not a backup")
      }
      bytes += more
    }
    return bytes
  }
}

extension SHA256.Digest {
  var hex: String { map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined() }
}
