import NIOCore
import StrictHTTP
import Wire

/// The path of requests: parsing, authentication, rate limits, forwarding to the service.
extension ClientHandler {
  // MARK: Head

  /// - Returns: false when more bytes are needed.
  func readHead() -> Bool {
    let bytes = inbound
    let span = bytes.readableBytesUInt8Span
    if scannedBytes > 0, span.count < HTTPLimits.clients.headBytesMax {
      // A head is parsed again only when a line has ended, so that a client that sends single bytes causes little work.
      var index = scannedBytes
      while index < span.count, span[index] != 0x0A { index += 1 }
      guard index < span.count else {
        scannedBytes = span.count
        return false
      }
    }
    do {
      guard try head.read(span) else {
        if scannedBytes == 0 { deadline = .now() + gateway.timeouts.head }
        scannedBytes = span.count
        return false
      }
    } catch {
      refuseUnparsed(Failure(error))
      return true
    }
    scannedBytes = 0
    beginExchange(span)
    return true
  }

  private func beginExchange(_ bytes: Span<UInt8>) {
    let exchange = Exchange(head)
    self.exchange = exchange
    exchangeNumber &+= 1
    phase = .waiting
    deadline = exchange.startedAt + gateway.timeouts.head
    loop.requestIDs.acceptOrMake(head, bytes, into: &requestID)
    if let tracer = loop.tracer { beginSpans(tracer) }
    if let version = head.fields.first(.goTrueVersion) {
      self.exchange?.goTrueVersion = GoTrueVersion(text(of: version.value))
    }
    if let cors = gateway.cors { self.exchange?.origin = cors.allowedOrigin(of: head, bytes) }
    switch gateway.table.match(head.method, bytes, head.path) {
    case .route(let route) where route.isWebSocket: beginHandshake(bytes, route)
    // Also on paths that are not there: as for bytes that are not HTTP, nothing may follow.
    case _ where head.asksForWebSocket: refuseUnparsed(.webSocketUnsupported)
    case .route(let route):
      self.exchange?.route = route
      self.exchange?.limit = route.limit(of: head, bytes)
      if case .length(let length) = head.framing, length > route.bodyBytesMax { return refuse(.tooLarge) }
      authenticate(bytes, route)
    case .local(let route):
      if route.isHealth || isMonitor { respond(to: route) } else { checkLimit(.anonymous, then: .respond(route)) }
    case .notFound: checkLimit(.anonymous, then: .refuse(.notFound))
    case .methodNotAllowed(let methods):
      // Browsers send preflight requests by themselves; those must not use up the page's quota.
      if head.method == .OPTIONS { return write(optionsResponse(methods, bytes)) }
      checkLimit(.anonymous, then: .refuse(.methodNotAllowed(allow: methods.names)))
    }
  }

  // MARK: Authentication and rate limits

  func authenticate(_ bytes: Span<UInt8>, _ route: Route) {
    let decision = loop.authenticator.decision(on: head, bytes, for: route.bearer) {
      loop.limiter.refusal(LimitKey(.refused, user: nil, address: clientAddress(head).address))
    }
    switch decision {
    case .authenticated(let caller): checkLimit(of: caller, route)
    case .rejected(let failure): refuseCredentials(failure)
    case .rateLimited(let refusal): limitChecked(refusal, as: .refused, then: .refuse(.invalidToken))
    case .pending(let verify):
      runAsync(verify) { [self] result in
        switch result {
        case .success(let verified): checkLimit(of: loop.authenticator.cache(verified), route)
        case .failure(let failure): refuseCredentials(failure)
        }
      }
    }
  }

  /// Rejected credentials are counted, because they may be guesses. A service that names an unknown user has not
  /// guessed.
  private func refuseCredentials(_ failure: Failure) {
    switch failure.kind {
    case .unauthorized, .forbidden: checkLimit(.refused, then: .refuse(failure))
    default: refuse(failure)
    }
  }

  /// External systems with a service key are not rate limited.
  private func checkLimit(of caller: Caller, _ route: Route) {
    exchange?.caller = caller
    guard caller.service == nil else { return proceed(to: .forward(route)) }
    checkLimit(exchange?.limit ?? .standard(isUser: caller.user != nil), then: .forward(route))
  }

  /// The next step of a request that is within its rate limit.
  enum NextStep {
    case forward(Route)
    case respond(LocalRoute)
    case refuse(Failure)
  }

  func checkLimit(_ limit: LimitClass, then next: NextStep) {
    let key = LimitKey(limit, user: exchange?.caller?.user, address: clientAddress(head).address)
    let limiter = loop.limiter
    guard limiter.isShared else { return limitChecked(limiter.take(key), as: limit, then: next) }
    let number = exchangeNumber
    let verdict = limiter.take(key) { [self] verdict in
      guard case .waiting = phase, exchangeNumber == number else { return }
      limitChecked(verdict, as: limit, then: next)
      advance()
      readIfWanted()
    }
    if let verdict { limitChecked(verdict, as: limit, then: next) }
  }

  private func limitChecked(_ verdict: LimitVerdict, as limit: LimitClass, then next: NextStep) {
    exchange?.limitVerdict = verdict
    exchange?.limit = limit
    guard verdict.isAllowed else { return refuse(.limited(for: verdict.retryAfterSeconds)) }
    proceed(to: next)
  }

  private func proceed(to next: NextStep) {
    switch next {
    case .forward(let route): forward(route)
    case .respond(let route): respond(to: route)
    case .refuse(let failure): refuse(failure)
    }
  }

  // MARK: Upstream connection

  func send(to route: Route) {
    guard let exchange, let pool = choosePool(route) else { return refuse(.unavailable) }
    phase = .waiting
    let now = NIODeadline.now()
    deadline = exchange.isFullyReceived ? now + .seconds(route.bodySeconds) : exchange.bodyDeadline
    exchange.forwardedAt = now
    guard let upstream = takeIdle(pool) else { return connect(route, pool) }
    forward(through: upstream)
  }

  private func choosePool(_ route: Route, except tried: [EndpointPool] = []) -> EndpointPool? {
    loop.pool(of: route.service).choose(except: tried, isForTunnel: exchange?.webSocketAccept != nil)
  }

  /// A WebSocket gets a connection of its own, which does not return to its pool.
  private func takeIdle(_ pool: EndpointPool) -> UpstreamHandler? {
    exchange?.webSocketAccept == nil ? pool.takeIdle() : nil
  }

  /// Opens a connection. When that fails it tries up to two other endpoints.
  private func connect(_ route: Route, _ pool: EndpointPool, tried: [EndpointPool] = []) {
    let number = exchangeNumber
    pool.connect(isForTunnel: exchange?.webSocketAccept != nil) { [self] upstream in
      guard case .waiting = phase, exchangeNumber == number else { return upstream?.release() ?? () }
      guard let upstream else {
        let tried = tried + [pool]
        guard tried.count < 3, let next = choosePool(route, except: tried) else {
          return refuse(.unavailable)
        }
        if let idle = takeIdle(next) { return resume(through: idle) }
        return connect(route, next, tried: tried)
      }
      resume(through: upstream)
    }
  }

  private func resume(through upstream: UpstreamHandler) {
    forward(through: upstream)
    advance()
    readIfWanted()
  }

  private func forward(through upstream: UpstreamHandler) {
    guard let exchange, let caller = exchange.caller else { return }
    phase = .forwarding(upstream)
    if !exchange.isHeadConsumed {
      Forwarding.writeRequest(
        head, inbound, to: &forwarded, endpointHeaders: upstream.pool.headerLines, caller: caller,
        requestID: requestID, address: clientAddress(head).text, timeoutHeader: exchange.timeoutHeader,
        forwardsBearer: exchange.route?.forwardsBearer ?? false, isWebSocket: exchange.webSocketAccept != nil,
        clientSpan: clientSpan,
        traceparentHeader: exchange.spans?.beginClientSpan(to: upstream.pool.endpoint.url) ?? [])
      inbound.moveReaderIndex(forwardBy: head.byteCount)
      exchange.isHeadConsumed = true
    }
    // A small body is sent together with its head.
    if case .length(let left) = exchange.remainingBody, left <= 16 * 1024, left <= inbound.readableBytes,
      var body = inbound.readSlice(length: left)
    {
      forwarded.writeBuffer(&body)
      exchange.bodyBytes = left
      exchange.remainingBody = .ended
    }
    upstream.start(forwarded, isForHEAD: exchange.method == .HEAD, for: self)
    if exchange.requestEnded { requestEnded() }
  }

  /// Sends the request again on a new connection, to another endpoint if there is one.
  ///
  /// - Returns: false when there is no other endpoint and the connection that failed was a new one: then a retry would
  ///   likely fail too.
  func retry(_ route: Route, after upstream: UpstreamHandler) -> Bool {
    let other = choosePool(route, except: [upstream.pool])
    guard let pool = other ?? (upstream.isReused ? upstream.pool : nil) else { return false }
    exchange?.isRetried = true
    connect(route, pool)
    return true
  }
}
