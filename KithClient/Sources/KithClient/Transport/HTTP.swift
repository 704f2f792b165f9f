import Foundation

/// A request as it is sent.
public struct HTTPRequest: Sendable {
  /// Where the body comes from.
  public enum Body: Sendable, Hashable {
    case data(Data)
    /// Read from the file while it is sent.
    case file(URL)
  }

  public var method: String
  public var url: URL
  public var headers: [String: String]
  public var body: Body?
  /// How long nothing may arrive.
  public var timeoutSeconds: Double

  /// - Parameter timeoutSeconds: how long nothing may arrive.
  public init(
    _ method: String, _ url: URL, headers: [String: String] = [:], body: Body? = nil, timeoutSeconds: Double = 30
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeoutSeconds = timeoutSeconds
  }
}

/// Status and headers of a response.
public struct HTTPResponseHead: Sendable, Equatable {
  public let status: Int
  private let headers: [String: String]

  /// For a ``Transport`` of the app's own.
  public init(status: Int, headers: [String: String] = [:]) {
    self.status = status
    self.headers = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
  }

  /// A header, whatever the case of its name.
  public subscript(_ name: String) -> String? { headers[name.lowercased()] }
}

/// A whole response.
public struct HTTPResponse: Sendable, Equatable {
  public let head: HTTPResponseHead
  public let body: Data

  public var status: Int { head.status }

  /// For a ``Transport`` of the app's own.
  public init(head: HTTPResponseHead, body: Data) {
    self.head = head
    self.body = body
  }
}

/// A response whose body is read as it arrives.
public struct HTTPStream: Sendable {
  public let head: HTTPResponseHead
  /// Ends the request when the reader is cancelled or gives up.
  public let body: AsyncThrowingStream<Data, any Error>

  /// For a ``Transport`` of the app's own.
  ///
  /// - Parameter body: throws ``NoAnswer`` when the connection is lost.
  public init(head: HTTPResponseHead, body: AsyncThrowingStream<Data, any Error>) {
    self.head = head
    self.body = body
  }

  private static let bodyBytesMax = 64 * 1024 * 1024

  /// The whole body, of at most 64 MB.
  func collected() async throws -> HTTPResponse {
    var data = Data()
    for try await chunk in body {
      data += chunk
      guard data.count <= Self.bodyBytesMax else { throw KithFailure.undecodable("the answer has more than 64 MB") }
    }
    // A cancelled reader sees the end of the stream.
    try Task.checkCancellation()
    return HTTPResponse(head: head, body: data)
  }
}
