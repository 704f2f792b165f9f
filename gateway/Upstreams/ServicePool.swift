import NIOCore
import NIOSSL
import Web

/// One event loop's connections to one service, shared out between its addresses.
final class ServicePool {
  private let service: ServiceName
  private let upstreams: Upstreams
  private let makePool: (Endpoint) -> EndpointPool
  private var pools: [EndpointPool] = []
  private var generation = Int.min
  private var turn = 0

  init(_ service: ServiceName, _ upstreams: Upstreams, makePool: @escaping (Endpoint) -> EndpointPool) {
    self.service = service
    self.upstreams = upstreams
    self.makePool = makePool
  }

  /// Whether the service is nowhere.
  var isEmpty: Bool {
    refresh()
    return pools.isEmpty
  }

  /// The least busy of the endpoints that stand best, one after the other where they are equal.
  ///
  /// When most are out, that they do not answer probes says more about the load than about them: leaving them out would
  /// be the end of the others, too, so they are used.
  ///
  /// - Parameter tried: has been found wanting for this request.
  func choose(except tried: [EndpointPool] = []) -> EndpointPool? {
    refresh()
    guard pools.count > 1 else { return pools.first.flatMap { one in tried.contains { $0 === one } ? nil : one } }
    turn &+= 1
    let isPanic = pools.count { $0.endpoint.standing.isOut } * 2 > pools.count
    var best: (pool: EndpointPool, rank: Int)?
    for offset in pools.indices {
      let pool = pools[(Int(UInt(bitPattern: turn) % UInt(pools.count)) + offset) % pools.count]
      if tried.contains(where: { $0 === pool }) { continue }
      let rank = pool.endpoint.standing.rank(inPanic: isPanic)
      guard let chosen = best else {
        best = (pool, rank)
        continue
      }
      if (rank, pool.busy) < (chosen.rank, chosen.pool.busy) { best = (pool, rank) }
    }
    return best?.pool
  }

  private func refresh() {
    let now = upstreams.generation
    guard generation != now else { return }
    generation = now
    let wanted = upstreams.endpoints(of: service)
    var next: [EndpointPool] = []
    for endpoint in wanted { next.append(pools.first { $0.endpoint === endpoint } ?? makePool(endpoint)) }
    for pool in pools where !next.contains(where: { $0 === pool }) { pool.isRetired = true }
    pools = next
  }

  func sweep(at now: NIODeadline) {
    for pool in pools { pool.sweep(at: now) }
  }
}
