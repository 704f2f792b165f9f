import Foundation

/// An app's connection to a Kith server. Make one, and keep it: it holds the session.
public struct KithClient: Sendable {
  let api: API

  public var auth: Auth { Auth(api: api) }
  public var invites: Invites { Invites(api: api) }
  public var groups: Groups { Groups(api: api) }
  public var photos: Photos { Photos(api: api) }
  public var collections: Collections { Collections(api: api) }
  public var lists: Lists { Lists(api: api) }
  public var tasks: Tasks { Tasks(api: api) }
  public var credits: Credits { Credits(api: api) }
  public var billing: Billing { Billing(api: api) }
  public var adventures: Adventures { Adventures(api: api) }
  public var timepoints: Timepoints { Timepoints(api: api) }
  public var files: Files { Files(api: api) }
  public var notifications: Notifications { Notifications(api: api) }
  public var events: Events { Events(api: api) }

  /// - Parameters:
  ///   - baseURL: of the gateway.
  ///   - apiKey: one of the server's `API_KEYS`, if it has any. It is no secret: it tells apps from other callers.
  ///   - tokens: where the session is kept. Apps use `KeychainTokenStore`.
  ///   - retries: when a call is repeated.
  ///   - transport: how requests are sent.
  ///   - webSockets: how live channels are connected. nil: by server-sent events, as where there are no WebSockets.
  public init(
    baseURL: URL, apiKey: String? = nil, tokens: any TokenStore, retries: RetryPolicy = RetryPolicy(),
    transport: any Transport = URLSessionTransport(),
    webSockets: (any WebSocketTransport)? = URLSessionWebSocketTransport()
  ) {
    self.init(
      baseURL: baseURL, apiKey: apiKey, tokens: tokens, retries: retries, transport: transport,
      live: LiveConnections(sockets: webSockets))
  }

  init(
    baseURL: URL, apiKey: String? = nil, tokens: any TokenStore, retries: RetryPolicy, transport: any Transport,
    live: LiveConnections
  ) {
    let exchanger = Exchanger(transport: transport, policy: retries, apiKey: apiKey)
    let cache = ResponseCache(now: retries.now)
    let sessions = Sessions(baseURL: baseURL, exchanger: exchanger, store: tokens, cache: cache)
    api = API(baseURL: baseURL, exchanger: exchanger, sessions: sessions, cache: cache, live: live)
  }
}
