import Database
import NIOCore
import StrictHTTP
import Wire

/// A GET request, for a ``LoopRoute``: its head, of which only that is converted which is asked for.
package final class LoopRequest {
  let head: RequestHead
  /// Begins with the head.
  let bytes: ByteBuffer
  private let variableRange: Range<Int>
  private let routes: LoopRoutes
  private let loop: any EventLoop
  private(set) var requestID = ""

  /// - Parameters:
  ///   - bytes: begins with the head.
  ///   - variable: where it is in the path.
  init(
    _ head: RequestHead, _ bytes: ByteBuffer, variable: Range<Int>, of routes: LoopRoutes,
    on loop: any EventLoop
  ) {
    self.head = head
    self.bytes = bytes
    variableRange = variable
    self.routes = routes
    self.loop = loop
    requestID = Trace(requestID: field(.requestID), traceparent: nil).requestID
  }

  /// Who makes the request, if the gateway says so; nil for all others, whom the route authenticates.
  package var user: UserID? { routes.user(assertedIn: self) }

  /// The variable of the path, as the client wrote it.
  package var variable: String { text(head.path.start + variableRange.lowerBound, variableRange.count) }

  var path: String { text(head.path.start, head.path.count) }

  /// The values of the query, if it has these parameters in this order, and no others, none of them percent-encoded.
  package func parameters(_ names: StaticString...) -> [String]? {
    let (bytes, end) = (bytes, head.target.end)
    let target = bytes.readableBytesUInt8Span
    var values: [String] = []
    values.reserveCapacity(names.count)
    // Of the question mark or ampersand before a name.
    var index = head.path.end
    for name in names {
      let start = index + 1 + name.utf8CodeUnitCount + 1
      guard start <= end, Self.isSame(target, at: index + 1, name), target[start - 1] == UInt8(ascii: "=") else {
        return nil
      }
      index = start
      while index < end, target[index] != UInt8(ascii: "&") {
        guard target[index] != UInt8(ascii: "%"), target[index] != UInt8(ascii: "+") else { return nil }
        index += 1
      }
      values.append(text(start, index - start))
    }
    return index == end ? values : nil
  }

  private static func isSame(_ bytes: Span<UInt8>, at start: Int, _ text: StaticString) -> Bool {
    text.withUTF8Buffer { text in
      for index in text.indices where bytes[start + index] != text[index] { return false }
      return true
    }
  }

  /// Whether it has a header field.
  ///
  /// - Parameter name: in lower case.
  package func hasField(_ name: StaticString) -> Bool {
    let bytes = bytes
    let head = bytes.readableBytesUInt8Span
    for field in self.head.fields.list where field.isNamed(name, in: head) { return true }
    return false
  }

  /// The value of a header field; nil when it has none of that name, or several.
  func field(_ name: FieldName) -> String? { head.fields.only(name).map { text($0.value.start, $0.value.count) } }

  /// The session of the user whom the gateway names.
  package var session: SessionID? { internalField("x-session-id").flatMap { SessionID($0) } }

  /// Whether its caller waits for less than the longest wait for a connection. The deadline of a route ends such a wait.
  private var isImpatient: Bool {
    guard let timeout = internalField("x-timeout-ms") else { return false }
    return Int(timeout).map { $0 < 5000 } ?? true
  }

  private func internalField(_ name: StaticString) -> String? {
    let bytes = bytes
    let head = bytes.readableBytesUInt8Span
    var found: HeadSlice?
    for field in self.head.fields.list where field.name == .internalOnly && field.isNamed(name, in: head) {
      guard found == nil else { return nil }
      found = field.value
    }
    return found.map { text($0.start, $0.count) }
  }

  private func text(_ start: Int, _ count: Int) -> String {
    bytes.getString(at: bytes.readerIndex + start, length: count) ?? ""
  }

  /// Responds with what a row has that is found by an index. The read may share a round trip with others
  /// (``Database/rows(of:)``).
  ///
  /// - Parameters:
  ///   - statement: returns at most one row.
  ///   - respond: called on a thread of the database; nil leaves the request to the route.
  /// - Returns: nil where the database has no reads without a task, and for callers that wait for less than 5 s.
  package func result(
    reading statement: SQL, in database: any Database,
    _ respond: @escaping @Sendable (Row?) throws -> LoopResponse?
  ) -> LoopResult? {
    guard !isImpatient else { return nil }
    let promise = loop.makePromise(of: LoopResponse?.self)
    let isSubmitted = database.submit([statement], whenConnected: {}) { rows in
      promise.completeWith(Result { try respond(try rows.get().first?.first) })
    }
    guard isSubmitted else {
      promise.succeed(nil)
      return nil
    }
    return .later(promise.futureResult)
  }
}
