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
    if scannedBytes > 0, span.count < HTTPLimits.headBytesMax {
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

  private func authenticate(_ bytes: Span<UInt8>, _ route: Route) {
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
  private enum NextStep {
    case forward(Route)
    case respond(LocalRoute)
    case refuse(Failure)
  }

  private func checkLimit(_ limit: LimitClass, then next: NextStep) {
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
    guard let exchange, let pool = loop.pool(of: route.service).choose() else { return refuse(.unavailable) }
    phase = .waiting
    let now = NIODeadline.now()
    deadline = exchange.isFullyReceived ? now + .seconds(route.bodySeconds) : exchange.bodyDeadline
    exchange.forwardedAt = now
    guard let upstream = pool.takeIdle() else { return connect(route, pool) }
    forward(through: upstream)
  }

  /// Opens a connection. When that fails it tries up to two other endpoints.
  private func connect(_ route: Route, _ pool: EndpointPool, tried: [EndpointPool] = []) {
    let number = exchangeNumber
    pool.connect { [self] upstream in
      guard case .waiting = phase, exchangeNumber == number else { return upstream?.release() ?? () }
      guard let upstream else {
        let tried = tried + [pool]
        guard tried.count < 3, let next = loop.pool(of: route.service).choose(except: tried) else {
          return refuse(.unavailable)
        }
        if let idle = next.takeIdle() { return resume(through: idle) }
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
    let other = loop.pool(of: route.service).choose(except: [upstream.pool])
    guard let pool = other ?? (upstream.isReused ? upstream.pool : nil) else { return false }
    exchange?.isRetried = true
    connect(route, pool)
    return true
  }

  // MARK: Body

  /// - Returns: false when nothing more can be forwarded now.
  func forwardBody(to upstream: UpstreamHandler) -> Bool {
    switch exchange?.remainingBody {
    case .length(let left):
      let count = min(left, inbound.readableBytes)
      guard count > 0, let piece = inbound.readSlice(length: count) else { return false }
      exchange?.bodyBytes += count
      exchange?.remainingBody = left == count ? .ended : .length(left - count)
      upstream.send(piece)
      guard left == count else { return true }
      upstream.flush()
      requestEnded()
      return true
    case .chunked(let decoder):
      forwardChunks(decoder, to: upstream)
      return true
    case .ended, nil: return false
    }
  }

  /// Forwards all received chunks as one chunk, so that a client that sends single bytes costs the service no more than
  /// any other.
  private func forwardChunks(_ decoder: ChunkedBodyDecoder, to upstream: UpstreamHandler) {
    var decoder = decoder
    var index = 0
    var data = ByteBuffer()
    let bytes = inbound
    let span = bytes.readableBytesUInt8Span
    do {
      while let part = try decoder.next(span, &index), case .data(let range) = part {
        guard var slice = bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count) else { break }
        if data.readableBytes == 0 { data = slice } else { data.writeBuffer(&slice) }
      }
    } catch {
      return abortRequest(Failure(error))
    }
    inbound.moveReaderIndex(forwardBy: index)
    exchange?.bodyBytes += data.readableBytes
    exchange?.remainingBody = decoder.hasEnded ? .ended : .chunked(decoder)
    guard (exchange?.bodyBytes ?? 0) <= exchange?.route?.bodyBytesMax ?? 0 else { return abortRequest(.tooLarge) }
    if data.readableBytes > 0 {
      var size = ByteBuffer()
      size.writeChunkSize(data.readableBytes)
      upstream.send(size)
      upstream.send(data)
      upstream.send(ByteBuffer(staticString: decoder.hasEnded ? "\r\n0\r\n\r\n" : "\r\n"))
    } else if decoder.hasEnded {
      upstream.send(ByteBuffer(staticString: "0\r\n\r\n"))
    }
    guard decoder.hasEnded else { return }
    upstream.flush()
    requestEnded()
  }

  /// Called when the whole request has been written to the service.
  private func requestEnded() {
    guard case .forwarding = phase else { return }
    releaseReservation()
    guard let exchange, exchange.status == nil else { return renewDeadline() }
    deadline = .now() + .seconds(exchange.route?.responseSeconds ?? 10)
  }

  /// Closes the upstream connection because the body is invalid, so that the service never receives the end of the
  /// body.
  private func abortRequest(_ failure: Failure) {
    guard case .forwarding(let upstream) = phase else { return }
    phase = .waiting
    upstream.close()
    exchange?.mustClose = true
    guard exchange?.status == nil else { return close() }
    refuse(failure)
  }

  /// - Returns: true; the phase changes when the whole body is discarded.
  func discardBody() -> Bool {
    switch exchange?.remainingBody {
    case .length(let left):
      let count = min(left, inbound.readableBytes)
      inbound.moveReaderIndex(forwardBy: count)
      exchange?.remainingBody = left == count ? .ended : .length(left - count)
      if left == count { finish() }
    case .chunked, .ended, nil: finish()
    }
    return true
  }
}
