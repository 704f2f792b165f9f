import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix

/// One GET request, to find out whether somebody answers.
enum HTTPProbe {
  struct Reply: Sendable {
    let status: UInt
    /// The header `Date`.
    let date: String?
    /// Empty when it is longer than programs of kith answer.
    let body: Data
  }

  /// Why there is no answer.
  enum Failure: Error, Equatable {
    case refused(String)
    case unknownName
    case timeout
    case untrustedCertificate
    case other(String)

    /// What follows "cannot be reached: ".
    var text: String {
      switch self {
      case .refused(let reason), .other(let reason): reason
      case .unknownName: "nobody knows the name"
      case .timeout: "no answer within \(HTTPProbe.secondsMax) seconds"
      case .untrustedCertificate: "its certificate is of an unknown authority, or of another name"
      }
    }
  }

  private static let secondsMax: Int64 = 5
  private static let bodyBytesMax = 64 * 1024

  /// - Parameters:
  ///   - extraRoots: the path of a file with further certificates that are trusted.
  ///   - verifiesCertificate: false for a program on this machine, whose certificate is that of its public name.
  static func get(
    _ url: String, trusting extraRoots: String? = nil, verifiesCertificate: Bool = true
  ) async -> Result<Reply, Failure> {
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.tlsConfiguration = .clientDefault
    if let extraRoots { configuration.tlsConfiguration?.additionalTrustRoots = [.file(extraRoots)] }
    if !verifiesCertificate { configuration.tlsConfiguration?.certificateVerification = .none }
    let client = HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    let answer: Result<Reply, Failure>
    do {
      let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(secondsMax))
      // `try?`: a body that is too long, or cut off, is none of ours.
      let body = try? await response.body.collect(upTo: bodyBytesMax)
      answer = .success(
        Reply(
          status: response.status.code, date: response.headers.first(name: "Date"),
          body: body.map { Data($0.readableBytesView) } ?? Data()))
    } catch { answer = .failure(failure(for: error)) }
    // `try?`: the client has no request any more that could fail.
    try? await client.shutdown()
    return answer
  }

  /// Opens a connection and closes it. nil when that worked.
  static func connect(host: String, port: Int) async -> Failure? {
    do {
      try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(.seconds(secondsMax))
        .connect(host: host, port: port).get().close()
      return nil
    } catch { return failure(for: error) }
  }

  private static func failure(for error: any Error) -> Failure {
    if let error = error as? NIOConnectionError {
      guard let failure = error.connectionErrors.first?.error else { return .unknownName }
      return Self.failure(for: failure)
    }
    if let error = error as? IOError { return .refused(String(cString: strerror(error.errnoCode))) }
    if case ChannelError.connectTimeout(_) = error { return .timeout }
    let timeouts: [HTTPClientError] = [.connectTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout]
    if let error = error as? HTTPClientError, timeouts.contains(error) { return .timeout }
    let text = String(describing: error)
    let refusals = ["CERTIFICATE_VERIFY_FAILED", "unableToValidateCertificate", "failedToValidateHostname"]
    return refusals.contains(where: text.contains) ? .untrustedCertificate : .other(text)
  }
}
