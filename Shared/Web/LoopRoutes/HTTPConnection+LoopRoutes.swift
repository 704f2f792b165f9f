import Hummingbird
import NIOCore

/// The way of requests that need no task.
extension HTTPConnection {
  /// After so many pipelined requests in a row the task responds, so that other connections have their turn.
  private static let loopResponsesMax = 16

  /// - Returns: false when the request is for the task.
  func respondOnLoop() -> Bool {
    // One whose client has not taken the last response yet waits, which the task can.
    guard let routes = service.loopRoutes, loopResponseCount < Self.loopResponsesMax,
      context?.channel.isWritable == true,
      let (route, variable) = routes.route(of: head, inbound)
    else { return false }
    loopResponseCount += 1
    let request = LoopRequest(head, inbound.slice(), variable: variable, of: routes, on: loop)
    inbound.moveReaderIndex(forwardBy: head.byteCount)
    beginResponding()
    routes.respond(to: request, by: route) { [self] response in
      guard context != nil else { return }
      if let response {
        write(response)
      } else {
        respond(to: Request(request.head, at: request.bytes, RequestBody(buffer: ByteBuffer())))
      }
    }
    return true
  }

  private func write(_ response: LoopResponse) {
    begin(response)
    do {
      guard let untilWritable = try writeBody(response.body) else { return finish() }
      untilWritable.assumeIsolated().whenComplete { [self] _ in finish() }
    } catch {
      service.logger.debug("a response was cut off", metadata: ["error": "\(error)"])
      finish()
    }
  }

  private func finish() {
    endBody()
    end()
  }
}
