import NIOCore
import StrictHTTP
import Wire

/// The way to the service.
extension ClientHandler {
  // MARK: The head

  /// - Returns: false when more must come first.
  func takeHead() -> Bool {
    let bytes = inbound
    let span = bytes.readableBytesUInt8Span
    if scanned > 0, span.count < Limits.headBytesMax {
      // Reading a head again for every byte of a slow client would be work that it can make for free.
      var index = scanned
      while index < span.count, span[index] != 0x0A { index += 1 }
      guard index < span.count else {
        scanned = span.count
        return false
      }
    }
    do {
      guard try head.read(span) else {
        if scanned == 0 { deadline = .now() + gateway.patience.head }
        scanned = span.count
        return false
      }
    } catch {
      refuseUnread(Failure(error))
      return true
    }
    scanned = 0
    begin(span)
    return true
  }

  private func begin(_ bytes: Span<UInt8>) {
    let exchange = Exchange(head)
    self.exchange = exchange
    serial &+= 1
    phase = .waiting
    deadline = exchange.startedAt + gateway.patience.head
    loop.ids.take(head, bytes, into: &requestID)
    if let tracer = loop.tracer { beginSpans(tracer) }
    if let version = head.fields.first(.goTrueVersion) {
      self.exchange?.goTrueVersion = GoTrueVersion(text(of: version.value))
    }
    if let cors = gateway.cors { self.exchange?.origin = cors.origin(of: head, bytes) }
    switch gateway.table.match(head.method, bytes, head.path) {
    case .route(let route):
      self.exchange?.route = route
      self.exchange?.limit = route.limit(of: head, bytes)
      if case .length(let length) = head.framing, length > route.bodyBytesMax { return refuse(.tooLarge) }
      decide(bytes, route)
    case .own(let own):
      if own.isHealth || isMonitor { answer(own) } else { count(as: .anonymous, then: .answer(own)) }
    case .notFound: count(as: .anonymous, then: .refuse(.notFound))
    case .otherMethods(let methods):
      // Browsers ask by themselves before a page's requests; that must not use up what the page may do.
      if head.method == .OPTIONS { return write(options(methods, bytes)) }
      count(as: .anonymous, then: .refuse(.methodNotAllowed(allow: methods.names)))
    }
  }

  // MARK: Who, and how often

  private func decide(_ bytes: Span<UInt8>, _ route: Route) {
    let verdict = loop.bearer.verdict(on: head, bytes, for: route.bearer) {
      loop.limiter.refusal(LimitKey(.refused, user: nil, address: address(head).address))
    }
    switch verdict {
    case .known(let caller): count(caller, route)
    case .refused(let failure): refuseBearer(failure)
    case .limited(let refusal): counted(refusal, as: .refused, then: .refuse(.invalidToken))
    case .ask(let question):
      ask(question) { [self] answer in
        switch answer {
        case .success(let answer): count(loop.bearer.learn(answer), route)
        case .failure(let failure): refuseBearer(failure)
        }
      }
    }
  }

  /// Guesses are counted; a service that names an unknown user has not guessed.
  private func refuseBearer(_ failure: Failure) {
    switch failure.kind {
    case .unauthorized, .forbidden: count(as: .refused, then: .refuse(failure))
    default: refuse(failure)
    }
  }

  private func count(_ caller: Caller, _ route: Route) {
    exchange?.caller = caller
    guard caller.service == nil else { return go(on: .forward(route)) }
    count(as: exchange?.limit ?? .usual(isUser: caller.user != nil), then: .forward(route))
  }

  /// What becomes of a request that is within its limit.
  private enum Next {
    case forward(Route)
    case answer(OwnRoute)
    case refuse(Failure)
  }

  private func count(as limit: LimitClass, then next: Next) {
    let key = LimitKey(limit, user: exchange?.caller?.user, address: address(head).address)
    let limiter = loop.limiter
    guard limiter.isShared else { return counted(limiter.take(key), as: limit, then: next) }
    let asked = serial
    let verdict = limiter.take(key) { [self] verdict in
      guard case .waiting = phase, serial == asked else { return }
      counted(verdict, as: limit, then: next)
      advance()
      readIfWanted()
    }
    if let verdict { counted(verdict, as: limit, then: next) }
  }

  private func counted(_ verdict: LimitVerdict, as limit: LimitClass, then next: Next) {
    exchange?.limited = verdict
    exchange?.limit = limit
    guard verdict.isAllowed else { return refuse(.limited(for: verdict.retryAfterSeconds)) }
    go(on: next)
  }

  private func go(on next: Next) {
    switch next {
    case .forward(let route): forward(route)
    case .answer(let own): answer(own)
    case .refuse(let failure): refuse(failure)
    }
  }

  // MARK: To the service

  func send(to route: Route) {
    guard let exchange, let pool = loop.pool(of: route.service).choose() else { return refuse(.unavailable) }
    phase = .waiting
    deadline = exchange.isComplete ? .now() + .seconds(route.bodySeconds) : exchange.bodyDeadline
    self.exchange?.forwardedAt = .now()
    guard let kept = pool.kept() else { return connect(route, pool) }
    pipe(through: kept)
  }

  /// A new connection, to the next best endpoint when one cannot be reached.
  private func connect(_ route: Route, _ pool: EndpointPool, tried: [EndpointPool] = []) {
    let asked = serial
    pool.connect { [self] upstream in
      guard case .waiting = phase, serial == asked else { return upstream?.release() ?? () }
      guard let upstream else {
        let tried = tried + [pool]
        guard tried.count < 3, let next = loop.pool(of: route.service).choose(except: tried) else {
          return refuse(.unavailable)
        }
        if let kept = next.kept() { return resume(through: kept) }
        return connect(route, next, tried: tried)
      }
      resume(through: upstream)
    }
  }

  private func resume(through upstream: UpstreamHandler) {
    pipe(through: upstream)
    advance()
    readIfWanted()
  }

  private func pipe(through upstream: UpstreamHandler) {
    guard let exchange, let caller = exchange.caller else { return }
    phase = .piping(upstream)
    if !exchange.isHeadTaken {
      Forwarding.writeRequest(
        head, inbound, to: &forwarded, own: upstream.endpoint.lines, caller: caller, requestID: requestID,
        address: address(head).text, timeout: exchange.timeoutLine,
        trace: clientsSpan,
        tracing: exchange.spans?.forwarded(to: upstream.endpoint.endpoint.url) ?? [])
      inbound.moveReaderIndex(forwardBy: head.byteCount)
      self.exchange?.isHeadTaken = true
    }
    // A small body goes with its head.
    if case .length(let left) = exchange.body, left <= 16 * 1024, left <= inbound.readableBytes,
      var body = inbound.readSlice(length: left)
    {
      forwarded.writeBuffer(&body)
      self.exchange?.bodyBytes = left
      self.exchange?.body = .ended
    }
    upstream.begin(forwarded, isToHead: exchange.method == .HEAD, for: self)
    if self.exchange?.requestEnded == true { requestEnded() }
  }

  /// Once more, on a connection of its own, at another address if there is one.
  ///
  /// - Returns: false when there is nobody else, and the connection that broke was a fresh one: then it was no accident.
  func again(_ route: Route, after upstream: UpstreamHandler) -> Bool {
    let other = loop.pool(of: route.service).choose(except: [upstream.endpoint])
    guard let pool = other ?? (upstream.isUsed ? upstream.endpoint : nil) else { return false }
    exchange?.isRepeated = true
    connect(route, pool)
    return true
  }

  // MARK: The body

  /// - Returns: false when nothing more can be taken now.
  func takeBody(for upstream: UpstreamHandler) -> Bool {
    switch exchange?.body {
    case .length(let left):
      let count = min(left, inbound.readableBytes)
      guard count > 0, let piece = inbound.readSlice(length: count) else { return false }
      exchange?.bodyBytes += count
      exchange?.body = left == count ? .ended : .length(left - count)
      upstream.send(piece)
      if left == count { requestEnded() }
      return true
    case .chunked(let chunks):
      takeChunks(chunks) { upstream.send($0) }
      return true
    case .ended, nil: return false
    }
  }

  /// Takes the chunks that have come and frames them anew, all as one: a client that sends single bytes costs the
  /// service no more than one that does not.
  private func takeChunks(_ chunks: ChunkedBody, send: (ByteBuffer) -> Void) {
    var chunks = chunks
    var index = 0
    var data = ByteBuffer()
    let bytes = inbound
    let span = bytes.readableBytesUInt8Span
    do {
      while let piece = try chunks.next(span, &index), case .data(let range) = piece {
        guard var part = bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count) else { break }
        if data.readableBytes == 0 { data = part } else { data.writeBuffer(&part) }
      }
    } catch {
      return breakOff(Failure(error))
    }
    inbound.moveReaderIndex(forwardBy: index)
    exchange?.bodyBytes += data.readableBytes
    exchange?.body = chunks.hasEnded ? .ended : .chunked(chunks)
    guard (exchange?.bodyBytes ?? 0) <= exchange?.route?.bodyBytesMax ?? 0 else { return breakOff(.tooLarge) }
    if data.readableBytes > 0 {
      var size = ByteBuffer()
      size.writeChunkSize(data.readableBytes)
      send(size)
      send(data)
      send(ByteBuffer(staticString: chunks.hasEnded ? "\r\n0\r\n\r\n" : "\r\n"))
    } else if chunks.hasEnded {
      send(ByteBuffer(staticString: "0\r\n\r\n"))
    }
    if chunks.hasEnded { requestEnded() }
  }

  private func requestEnded() {
    guard case .piping(let upstream) = phase else { return }
    upstream.flush()
    releaseHold()
    guard let exchange, exchange.status == nil else { return renewDeadline() }
    deadline = .now() + .seconds(exchange.route?.answerSeconds ?? 10)
  }

  /// The body is not what it should be: the service never sees its end.
  private func breakOff(_ failure: Failure) {
    guard case .piping(let upstream) = phase else { return }
    phase = .waiting
    upstream.close()
    exchange?.mustClose = true
    guard exchange?.status == nil else { return close() }
    refuse(failure)
  }

  /// - Returns: false when more must come first.
  func skipBody() -> Bool {
    switch exchange?.body {
    case .length(let left):
      let count = min(left, inbound.readableBytes)
      inbound.moveReaderIndex(forwardBy: count)
      exchange?.body = left == count ? .ended : .length(left - count)
      if left == count { finish() }
    case .chunked, .ended, nil: finish()
    }
    return true
  }
}
