import NIOCore
import Traces
import Web

/// What the connections of one event loop share: pools, verdicts, buffers, deadlines. Used on that loop only, so nothing
/// is locked.
final class LoopState {
  let loop: any EventLoop
  let bearer: Bearer
  let limiter: Limiter
  let metrics: LoopMetrics
  /// nil: nobody wants to know what a request went through.
  let tracer: Tracer?
  var ids = RequestIDs()
  /// What goes out next; whoever writes to it hands it over before anything else runs on this loop.
  var out = ByteBuffer()
  private let pools: [ServicePool]
  private var clients: [ObjectIdentifier: ClientHandler] = [:]
  private var isDraining = false
  private var sweeps = 0
  private var dated: (second: Int64, line: [UInt8]) = (0, [])
  /// One timer for all connections: a timer for each request would cost more than the request.
  private static let sweepEvery = TimeAmount.milliseconds(250)
  /// Every so many sweeps, idle connections give back what they do not need.
  private static let restEvery = 8

  init(
    on loop: any EventLoop, bearer: Bearer, limiter: Limiter, metrics: LoopMetrics,
    tracer: Tracer?, pool: (ServiceName) -> ServicePool
  ) {
    self.loop = loop
    self.bearer = bearer
    self.limiter = limiter
    self.metrics = metrics
    self.tracer = tracer
    self.pools = ServiceName.allCases.map(pool)
  }

  func start() {
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleRepeatedTask(initialDelay: Self.sweepEvery, delay: Self.sweepEvery) { _ in bound.value.sweep() }
  }

  func pool(of service: ServiceName) -> ServicePool { pools[service.index] }

  func opened(_ client: ClientHandler) {
    clients[ObjectIdentifier(client)] = client
    if isDraining { client.drain() }
  }

  func closed(_ client: ClientHandler) { clients[ObjectIdentifier(client)] = nil }

  /// No more requests on these connections; the ones that are under way end first.
  func drain() {
    isDraining = true
    for client in clients.values { client.drain() }
  }

  var clientCount: Int { clients.count }

  /// Of requests and answers that are on their way through.
  var bufferedBytes: Int { clients.values.reduce(0) { $0 + $1.bufferedBytes } }

  func closeAll() {
    limiter.stop()
    for client in clients.values { client.close() }
  }

  /// The line `date: …` of this second (RFC 9110 §5.6.7).
  func date() -> [UInt8] {
    let second = Int64(HTTPDate.now())
    if dated.second != second { dated = (second, HTTPDate.line(second)) }
    return dated.line
  }

  private func sweep() {
    let now = NIODeadline.now()
    sweeps &+= 1
    let isTimeToRest = sweeps % Self.restEvery == 0
    for client in clients.values {
      if client.deadline <= now { client.deadlinePassed() }
      if isTimeToRest { client.rest() }
    }
    for pool in pools { pool.sweep(at: now) }
  }
}

extension ServiceName {
  /// Its place among all services.
  var index: Int {
    switch self {
    case .auth: 0
    case .invites: 1
    case .groups: 2
    case .lists: 3
    case .credits: 4
    case .adventures: 5
    case .timepoints: 6
    }
  }
}
