import NIOCore
import Traces
import Web
import Wire

/// The state that the connections of one event loop share: pools, token cache, output buffer, deadlines. Used on that
/// loop only, so nothing is locked.
final class EventLoopState {
  let eventLoop: any EventLoop
  let authenticator: Authenticator
  let limiter: Limiter
  let metrics: EventLoopMetrics
  /// nil when tracing is not configured.
  let tracer: Tracer?
  var requestIDs = RequestIDGenerator()
  /// Bytes that are written next. Code that appends to it has to write it to its channel before it returns to the event
  /// loop.
  var outbound = ByteBuffer()
  private let pools: [ServicePool]
  private var clients: [ObjectIdentifier: ClientHandler] = [:]
  private var isDraining = false
  private var sweeps = 0
  private var sweeping: RepeatedTask?
  private var cachedDate: (second: Int64, line: [UInt8]) = (0, [])
  /// One timer checks the deadlines of all connections, while there are any: a timer for each request would cost more
  /// than the request.
  private static let sweepInterval = TimeAmount.milliseconds(250)
  /// Idle connections release memory once in this many sweeps.
  private static let trimEverySweeps = 8

  init(
    on eventLoop: any EventLoop, authenticator: Authenticator, limiter: Limiter, metrics: EventLoopMetrics,
    tracer: Tracer?, pool: (ServiceName) -> ServicePool
  ) {
    self.eventLoop = eventLoop
    self.authenticator = authenticator
    self.limiter = limiter
    self.metrics = metrics
    self.tracer = tracer
    self.pools = ServiceName.allCases.map(pool)
  }

  func pool(of service: ServiceName) -> ServicePool { pools[service.index] }

  func opened(_ client: ClientHandler) {
    clients[ObjectIdentifier(client)] = client
    if sweeping == nil { startSweeping() }
    if isDraining { client.drain() }
  }

  func closed(_ client: ClientHandler) { clients[ObjectIdentifier(client)] = nil }

  /// Stops accepting requests on these connections. Requests in flight end first.
  func drain() {
    isDraining = true
    for client in clients.values { client.drain() }
  }

  var clientCount: Int { clients.count }

  /// Bytes of requests and responses in flight.
  var bufferedBytes: Int { clients.values.reduce(0) { $0 + $1.bufferedBytes } }

  func closeAll() {
    limiter.stop()
    for client in clients.values { client.close() }
  }

  /// The `Date` header line of the current second (RFC 9110 §5.6.7).
  func dateHeader() -> [UInt8] {
    let second = Int64(HTTPDate.now())
    if cachedDate.second != second { cachedDate = (second, HTTPDate.line(second)) }
    return cachedDate.line
  }

  /// Whether the timer runs.
  var isSweeping: Bool { sweeping != nil }

  private func startSweeping() {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    sweeping = eventLoop.scheduleRepeatedTask(initialDelay: Self.sweepInterval, delay: Self.sweepInterval) { _ in
      bound.value.sweep()
    }
  }

  private func sweep() {
    let now = NIODeadline.now()
    sweeps &+= 1
    let isTrimDue = sweeps % Self.trimEverySweeps == 0
    for client in clients.values {
      if client.deadline <= now { client.deadlinePassed() }
      if isTrimDue { client.trim() }
    }
    for pool in pools { pool.sweep(at: now) }
    if clients.isEmpty, !pools.contains(where: \.hasConnections) {
      sweeping?.cancel()
      sweeping = nil
    }
  }
}

extension ServiceName {
  /// Its position in `allCases`.
  var index: Int {
    switch self {
    case .auth: 0
    case .invites: 1
    case .groups: 2
    case .lists: 3
    case .credits: 4
    case .events: 5
    case .adventures: 6
    case .timepoints: 7
    }
  }
}
