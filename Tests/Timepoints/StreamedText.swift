import Hummingbird
import NIOCore
import Synchronization

/// The body of a response that does not end by itself.
enum StreamedText {
  /// The text of the first writes.
  static func first(_ count: Int, of response: Response) async throws -> String {
    let collected = Collected()
    do { try await response.body.write(Writer(limit: count, collected: collected)) } catch is Enough {}
    return collected.text.withLock { $0.joined() }
  }

  private struct Enough: Error {}

  private final class Collected: Sendable {
    let text = Mutex<[String]>([])
  }

  private struct Writer: ResponseBodyWriter {
    let limit: Int
    let collected: Collected

    mutating func write(_ buffer: ByteBuffer) async throws {
      let count = collected.text.withLock { text in
        text.append(String(buffer: buffer))
        return text.count
      }
      if count >= limit { throw Enough() }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
  }
}
