import Foundation

/// Sends calls as the signed-in user, and decodes the answers.
struct API: Sendable {
  let baseURL: URL
  let exchanger: Exchanger
  let sessions: Sessions
  let cache: ResponseCache
  let live: LiveConnections

  /// The same over another transport.
  func over(_ transport: any Transport) -> API {
    API(
      baseURL: baseURL,
      exchanger: Exchanger(transport: transport, policy: exchanger.policy, apiKey: exchanger.apiKey),
      sessions: sessions, cache: cache, live: live)
  }

  /// The decoded body of a successful answer.
  func value<Body: Decodable & Sendable>(_ call: Call, as type: Body.Type = Body.self) async throws -> Body {
    try WireCoding.decode(from: try await send(call).body)
  }

  /// A successful answer.
  ///
  /// - Throws: ``KithFailure``, or `CancellationError`.
  func send(_ call: Call, progress: (@Sendable (Int64) -> Void)? = nil) async throws -> HTTPResponse {
    guard call.method == .get, let policy = call.cache else { return try await change(call, progress: progress) }
    let request = try call.request(to: baseURL)
    let key = ResponseCache.Key(user: try await cacheUser(of: call), url: request.url)
    let kept = await cache.entry(key)
    if let kept, await cache.isFresh(kept, for: policy) { return kept.response }
    let generation = await cache.generation
    let validated = call.with { $0.headers["If-None-Match"] = kept?.etag }
    let response = try await successful(validated)
    if response.status == 304, let kept {
      await cache.confirm(key)
      return kept.response
    }
    await cache.keep(response, as: key, in: policy.area, since: generation)
    return response
  }

  private func change(_ call: Call, progress: (@Sendable (Int64) -> Void)?) async throws -> HTTPResponse {
    do {
      let response = try await successful(call, progress: progress)
      await cache.remove(call.staleAreas)
      return response
    } catch {
      // Without an answer it may have been done.
      await cache.remove(call.staleAreas)
      throw error
    }
  }

  private func cacheUser(of call: Call) async throws -> String? {
    do { return try await sessions.cacheUser() } catch KithFailure.signedOut where call.bearer == .ifSignedIn {
      return nil
    }
  }

  /// The body of a successful answer as it arrives. A stream is not repeated: who reads it knows where it ended.
  func stream(_ call: Call) async throws -> HTTPStream {
    var bearer = try await bearer(for: call)
    while true {
      let isFirst = bearer?.isReplacement != true
      let stream: HTTPStream
      do { stream = try await exchanger.stream(try request(call, bearer)) } catch let failure
        as NoAnswer
      { throw KithFailure.unreachable(failure.reason) }
      if (200..<300).contains(stream.head.status) { return stream }
      let response = try await collected(stream)
      guard response.status == 401, isFirst, let rejected = bearer else { throw KithFailure.refused(.init(response)) }
      bearer = try await sessions.bearer(replacing: rejected)
    }
  }

  private func collected(_ stream: HTTPStream) async throws -> HTTPResponse {
    do { return try await stream.collected() } catch let failure as NoAnswer {
      throw KithFailure.unreachable(failure.reason)
    }
  }

  private func successful(
    _ call: Call, progress: (@Sendable (Int64) -> Void)? = nil
  ) async throws -> HTTPResponse {
    let bearer = try await bearer(for: call)
    var response = try await exchanger.send(
      try request(call, bearer), isRepeatable: call.isRepeatable, progress: progress)
    if response.status == 401, let bearer {
      // The token was refused before anything was done: once more with a new one.
      let next = try await sessions.bearer(replacing: bearer)
      response = try await exchanger.send(
        try request(call, next), isRepeatable: call.isRepeatable, progress: progress)
    }
    guard (200..<300).contains(response.status) || response.status == 304 else {
      throw KithFailure.refused(Refusal(response, now: exchanger.policy.now()))
    }
    return response
  }

  private func bearer(for call: Call) async throws -> Bearer? {
    switch call.bearer {
    case .required: return try await sessions.bearer()
    case .ifSignedIn:
      do { return try await sessions.bearer() } catch KithFailure.signedOut { return nil }
    case .none: return nil
    }
  }

  private func request(_ call: Call, _ bearer: Bearer?) throws -> HTTPRequest {
    var request = try call.request(to: baseURL)
    if let bearer { request.headers["Authorization"] = "Bearer \(bearer.token)" }
    return request
  }
}
