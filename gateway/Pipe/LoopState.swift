import NIOCore
import Web

/// What the connections of one event loop share: pools, verdicts, deadlines. Used on that loop only, so nothing is locked.
final class LoopState {
  let loop: any EventLoop
  let bearer: Bearer
  private let pools: [ServiceName: UpstreamPool]
  private var clients: [ObjectIdentifier: ClientHandler] = [:]
  private var isDraining = false
  /// One timer for all connections: a timer for each request would cost more than the request.
  private static let sweepEvery = TimeAmount.milliseconds(250)

  init(on loop: any EventLoop, bearer: Bearer, neighbours: Neighbours) {
    self.loop = loop
    self.bearer = bearer
    var pools: [ServiceName: UpstreamPool] = [:]
    for service in ServiceName.allCases { pools[service] = UpstreamPool(service, neighbours, on: loop) }
    self.pools = pools
  }

  func start() {
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleRepeatedTask(initialDelay: Self.sweepEvery, delay: Self.sweepEvery) { _ in bound.value.sweep() }
  }

  func pool(of service: ServiceName) -> UpstreamPool? { pools[service] }

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

  func closeAll() {
    for client in clients.values { client.close() }
  }

  private func sweep() {
    let now = NIODeadline.now()
    for client in clients.values where client.deadline <= now { client.deadlinePassed() }
    for pool in pools.values { pool.sweep(at: now) }
  }
}
