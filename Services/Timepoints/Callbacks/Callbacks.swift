import AsyncHTTPClient
import Crypto
import Database
import Foundation
import NIOCore
import NIOPosix
import Outbox
import Tokens
import Web
import Wire

/// Posts the end of a generation to the address that came with its request, signed as Standard Webhooks describes, at
/// least once and for at most an hour.
struct Callbacks: Sendable {
  let outbox: Outbox

  private static let kind = "timepoint_callback"

  init(_ rules: CallbackRules, database: any Database, keys: DataKeys, in dependencies: Dependencies) {
    let sender = CallbackSender(rules: rules, now: dependencies.now)
    outbox = Outbox(
      database: database, keys: keys, in: dependencies,
      backoff: Backoff(first: .seconds(5), longest: .seconds(900)),
      deliveries: [
        Delivery(Self.kind, timeout: .seconds(20), giveUpAfter: .seconds(3600)) { message in
          try await sender.send(try message.decode(), id: message.id)
        }
      ])
  }

  func add(_ url: String, _ timepoint: Timepoint, _ status: Timepoint.Status, at now: Date, on db: any Connection)
    throws
  {
    let event = CallbackMessage.Event(
      type: "timepoint.\(status.rawValue)", timestamp: now,
      data: .init(
        timepoint_id: timepoint.id, slug: timepoint.slug, status: status, request_context: timepoint.requestContext))
    let message = CallbackMessage(url: url, body: String(decoding: try JSON.encode(event), as: UTF8.self))
    try outbox.add(
      Self.kind, message, deduplicationKey: timepoint.id.description, user: timepoint.owner, at: now, on: db)
  }

  func wakeUp() { outbox.wakeUp() }
}

/// What is posted, and where.
struct CallbackMessage: Codable, Sendable {
  let url: String
  let body: String

  struct Event: Encodable {
    let type: String
    let timestamp: Date
    let data: Outcome
  }

  struct Outcome: Encodable {
    let timepoint_id: TimepointID
    let slug: String
    let status: Timepoint.Status
    @NullCodable var request_context: JSONValue?
  }
}

/// Sends one callback. The host is resolved here, and the connection goes to the address that was checked.
struct CallbackSender: Sendable {
  let rules: CallbackRules
  let now: @Sendable () -> Date
  var resolve: @Sendable (String) -> [IPAddress] = { IPAddress.resolve($0) }

  /// - Throws: ``Undeliverable`` for an address that is not public, and for an answer with 410.
  func send(_ message: CallbackMessage, id: String) async throws {
    guard let key = rules.key, let url = try? rules.url(message.url) else {
      throw Undeliverable("the address is not accepted any more")
    }
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow, timeout: .init(connect: .seconds(5), read: .seconds(10)))
    configuration.httpVersion = .http1Only
    if !url.isAllowedHost {
      configuration.dnsOverride = [url.host: try await publicAddress(of: url.host).description]
    }
    let request = request(message, id: id, key: key)
    // Of its own, as a connection that is kept would be used for another callback's checked address.
    let client = HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    let status: UInt
    do {
      status = try await client.execute(request, timeout: .seconds(15)).status.code
      try await client.shutdown()
    } catch {
      // `try?`: the error of the request is the one to report.
      try? await client.shutdown()
      throw CallbackFailed(reason: "no answer")
    }
    if status == 410 { throw Undeliverable("the receiver is gone") }
    guard (200..<300).contains(status) else { throw CallbackFailed(reason: "status \(status)") }
  }

  private func publicAddress(of host: String) async throws -> IPAddress {
    let addresses = try await NIOThreadPool.singleton.runIfActive { [resolve] in resolve(host) }
    guard let first = addresses.first else { throw CallbackFailed(reason: "the host has no address") }
    guard addresses.allSatisfy(\.isPublic) else { throw Undeliverable("the host is not public") }
    return first
  }

  private func request(_ message: CallbackMessage, id: String, key: Data) -> HTTPClientRequest {
    let seconds = String(Int(now().timeIntervalSince1970))
    let signature = HMAC<SHA256>.authenticationCode(
      for: Data("msg_\(id).\(seconds).\(message.body)".utf8), using: SymmetricKey(data: key))
    var request = HTTPClientRequest(url: message.url)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    request.headers.add(name: "user-agent", value: "Kith/\(Kith.version)")
    request.headers.add(name: "webhook-id", value: "msg_\(id)")
    request.headers.add(name: "webhook-timestamp", value: seconds)
    request.headers.add(name: "webhook-signature", value: "v1,\(Data(signature).base64EncodedString())")
    request.body = .bytes(ByteBuffer(string: message.body))
    return request
  }
}

/// Without the address, which is the user's.
struct CallbackFailed: Error, CustomStringConvertible {
  let reason: String
  var description: String { reason }
}
