import Synchronization
import Web
import Wire

/// What request bodies that are still arriving may take: memory while small ones are gathered, connections to a service
/// while large ones stream.
final class UnfinishedBodies: Sendable {
  /// What one such body has taken.
  struct Hold: Sendable {
    fileprivate let address: IPAddress
    fileprivate var bytes = 0
    fileprivate var stream: ServiceName?

    init(_ address: IPAddress) { self.address = address.network }
  }

  private struct State {
    var memory = FairShare(of: UnfinishedBodies.gatheredBytesMax)
    var streams = ServiceName.allCases.map { _ in FairShare(of: UnfinishedBodies.streamsMax) }
  }

  /// Of all bodies together.
  static let gatheredBytesMax = 64 * 1024 * 1024
  /// To one service; half of the connections that an event loop may open to one of its addresses.
  static let streamsMax = 512
  /// A connection costs some memory, however little has come on it.
  private static let gatheredBytesMin = 4 * 1024

  private let state = Mutex(State())

  var gatheredBytes: Int { state.withLock { $0.memory.taken } }

  func streams(to service: ServiceName) -> Int { state.withLock { $0.streams[service.index].taken } }

  /// Makes room for a body of which so many bytes have come.
  ///
  /// - Returns: why there is none.
  func gather(_ bytes: Int, _ hold: inout Hold) -> Failure? {
    // Few steps instead of one for every byte of a slow client.
    var wanted = Self.gatheredBytesMin
    while wanted < bytes { wanted *= 2 }
    let more = wanted - hold.bytes
    guard more > 0 else { return nil }
    let (address, had) = (hold.address, hold.bytes)
    let refusal: Failure? = state.withLock { state in
      if state.memory.take(more, for: address) { return nil }
      return state.memory.taken(by: address) > had ? .tooManyUnfinished : .noRoomForUnfinished
    }
    if refusal == nil { hold.bytes = wanted }
    return refusal
  }

  /// Takes one of the connections to `service` that large bodies may have; the memory goes back.
  ///
  /// - Returns: why there is none.
  func stream(to service: ServiceName, _ hold: inout Hold) -> Failure? {
    let (address, bytes) = (hold.address, hold.bytes)
    let refusal: Failure? = state.withLock { state in
      guard state.streams[service.index].take(1, for: address) else {
        let holdsOthers = state.streams[service.index].taken(by: address) > 0
        return holdsOthers ? .tooManyUnfinished : .noRoomForUnfinished
      }
      state.memory.giveBack(bytes, of: address)
      return nil
    }
    guard refusal == nil else { return refusal }
    hold.bytes = 0
    hold.stream = service
    return nil
  }

  func release(_ hold: Hold) {
    state.withLock { state in
      state.memory.giveBack(hold.bytes, of: hold.address)
      if let service = hold.stream { state.streams[service.index].giveBack(1, of: hold.address) }
    }
  }
}

/// A supply that addresses share. Nobody gets more than a sixteenth of what is left, so that it takes many to use it up:
/// more than may have connections (the dynamic thresholds of Choudhury and Hahne).
struct FairShare {
  private let supply: Int
  private(set) var taken = 0
  private var byAddress: [IPAddress: Int] = [:]

  init(of supply: Int) { self.supply = supply }

  func taken(by address: IPAddress) -> Int { byAddress[address] ?? 0 }

  /// - Returns: false when that would be too much; then nothing is taken.
  mutating func take(_ amount: Int, for address: IPAddress) -> Bool {
    let own = taken(by: address)
    let left = supply - taken
    guard amount <= left, own == 0 || own + amount <= left / 16 else { return false }
    taken += amount
    byAddress[address] = own + amount
    return true
  }

  mutating func giveBack(_ amount: Int, of address: IPAddress) {
    taken -= amount
    let own = taken(by: address) - amount
    byAddress[address] = own > 0 ? own : nil
  }
}

extension Failure {
  static let tooManyUnfinished = Failure(
    .limited, "too_many_unfinished_requests", "Too many requests from this address are still arriving.",
    retryAfterSeconds: 5)
  static let noRoomForUnfinished = Failure(
    .unavailable, "too_many_unfinished_requests", "Too many requests are still arriving.", retryAfterSeconds: 5)
}
