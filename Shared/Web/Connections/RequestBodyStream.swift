import Hummingbird
import NIOCore

/// The body of a request while it arrives. Its reader may run on any thread.
struct RequestBodyStream {
  private typealias Producer = NIOThrowingAsyncSequenceProducer<
    ByteBuffer, any Error, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark, Reader
  >

  /// What the producer notifies of its reader.
  private struct Reader: NIOAsyncSequenceProducerDelegate {
    let connection: NIOLoopBound<HTTPConnection>
    let loop: any EventLoop

    func produceMore() { loop.execute { connection.value.bodyReaderWantsMore() } }

    /// What still arrives is discarded.
    func didTerminate() { loop.execute { connection.value.bodyReaderWantsMore() } }
  }

  let body: RequestBody
  private let source: Producer.Source
  /// False while the reader has enough. Reading from the connection then pauses.
  private(set) var wantsMore = true

  init(to connection: HTTPConnection) {
    let producer = Producer.makeSequence(
      elementType: ByteBuffer.self, failureType: (any Error).self,
      backPressureStrategy: .init(lowWatermark: 1, highWatermark: 4), finishOnDeinit: false,
      delegate: Reader(connection: NIOLoopBound(connection, eventLoop: connection.loop), loop: connection.loop))
    source = producer.source
    body = RequestBody(asyncSequence: producer.sequence)
  }

  mutating func yield(_ bytes: ByteBuffer) {
    if bytes.readableBytes > 0, case .stopProducing = source.yield(bytes) { wantsMore = false }
  }

  mutating func resume() { wantsMore = true }

  /// - Parameter error: nil at the end of the body.
  func end(with error: (any Error)?) {
    if let error { source.finish(error) } else { source.finish() }
  }
}

/// The connection was closed before the whole request had arrived.
struct IncompleteRequest: Error {}
