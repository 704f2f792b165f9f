import NIOCore
import NIOSSL
import Web

/// The connections of one event loop to one service, balanced between its endpoints.
final class ServicePool {
  private let service: ServiceName
  private let upstreams: Upstreams
  private let makePool: (Endpoint) -> EndpointPool
  private var pools: [EndpointPool] = []
  private var generation = Int.min
  private var nextIndex = 0

  init(_ service: ServiceName, _ upstreams: Upstreams, makePool: @escaping (Endpoint) -> EndpointPool) {
    self.service = service
    self.upstreams = upstreams
    self.makePool = makePool
  }

  /// Whether the service has no endpoint.
  var isEmpty: Bool {
    refresh()
    return pools.isEmpty
  }

  /// The endpoint of the best rank with the fewest exchanges in flight; round robin where they are equal.
  ///
  /// When more than half of the endpoints are excluded, the cause is likely load: excluding the silent ones would
  /// overload the others too, so they are used (a panic threshold).
  ///
  /// - Parameters:
  ///   - tried: the endpoints that have failed for this request.
  ///   - isForTunnel: whether the number of tunnels decides instead: a replica that was restarted has none, and would
  ///     otherwise get all requests until it has as many as the others.
  func choose(except tried: [EndpointPool] = [], isForTunnel: Bool = false) -> EndpointPool? {
    refresh()
    guard pools.count > 1 else { return pools.first.flatMap { only in tried.contains { $0 === only } ? nil : only } }
    nextIndex &+= 1
    let isPanic = pools.count { $0.endpoint.status.isExcluded } * 2 > pools.count
    func load(_ pool: EndpointPool) -> Int { isForTunnel ? pool.tunnelCount : pool.activeCount }
    var best: (pool: EndpointPool, rank: Int)?
    for offset in pools.indices {
      let pool = pools[(Int(UInt(bitPattern: nextIndex) % UInt(pools.count)) + offset) % pools.count]
      if tried.contains(where: { $0 === pool }) { continue }
      let rank = pool.endpoint.status.rank(inPanic: isPanic)
      guard let chosen = best else {
        best = (pool, rank)
        continue
      }
      if (rank, load(pool)) < (chosen.rank, load(chosen.pool)) { best = (pool, rank) }
    }
    return best?.pool
  }

  private func refresh() {
    let now = upstreams.generation
    guard generation != now else { return }
    generation = now
    var next: [EndpointPool] = []
    for endpoint in upstreams.endpoints(of: service) {
      next.append(pools.first { $0.endpoint === endpoint } ?? makePool(endpoint))
    }
    for pool in pools where !next.contains(where: { $0 === pool }) { pool.isRetired = true }
    pools = next
  }

  /// Whether connections are open or being opened.
  var hasConnections: Bool { pools.contains(where: \.hasConnections) }

  func sweep(at now: NIODeadline) {
    for pool in pools { pool.sweep(at: now) }
  }
}
