import Synchronization
import Web
import Wire

/// Limits what request bodies take while they arrive: memory for small bodies that are buffered, connections to a
/// service for large bodies that are streamed.
final class RequestBodyBudget: Sendable {
  /// What one such body has reserved.
  struct Reservation: Sendable {
    fileprivate let address: IPAddress
    fileprivate var bytes = 0
    fileprivate var streamedTo: ServiceName?

    init(_ address: IPAddress) { self.address = address.network }
  }

  private struct State {
    var memory = FairShare(of: RequestBodyBudget.reservedBytesMax)
    var streams = ServiceName.allCases.map { _ in FairShare(of: RequestBodyBudget.streamsMax) }
  }

  /// For all bodies together.
  static let reservedBytesMax = 64 * 1024 * 1024
  /// To one service; half of the connections that an event loop may open to one of its addresses.
  static let streamsMax = 512
  /// The minimum for each body: a connection takes some memory even when few bytes have arrived on it.
  private static let reservedBytesMin = 4 * 1024

  private let state = Mutex(State())

  var reservedBytes: Int { state.withLock { $0.memory.taken } }

  func streamCount(to service: ServiceName) -> Int { state.withLock { $0.streams[service.index].taken } }

  /// Reserves memory for a body of which `bytes` have arrived.
  ///
  /// - Returns: the failure when the budget does not allow it.
  func reserveMemory(_ bytes: Int, _ reservation: inout Reservation) -> Failure? {
    // Doubling takes few steps, where a slow client would otherwise need one for each byte.
    var wanted = Self.reservedBytesMin
    while wanted < bytes { wanted *= 2 }
    let more = wanted - reservation.bytes
    guard more > 0 else { return nil }
    let (address, reserved) = (reservation.address, reservation.bytes)
    let refusal: Failure? = state.withLock { state in
      if state.memory.take(more, for: address) { return nil }
      return state.memory.taken(by: address) > reserved ? .tooManyUnfinished : .noRoomForUnfinished
    }
    if refusal == nil { reservation.bytes = wanted }
    return refusal
  }

  /// Reserves one of the connections to `service` that large bodies may use, and releases the memory.
  ///
  /// - Returns: the failure when the budget does not allow it.
  func reserveStream(to service: ServiceName, _ reservation: inout Reservation) -> Failure? {
    let (address, bytes) = (reservation.address, reservation.bytes)
    let refusal: Failure? = state.withLock { state in
      guard state.streams[service.index].take(1, for: address) else {
        let hasOthers = state.streams[service.index].taken(by: address) > 0
        return hasOthers ? .tooManyUnfinished : .noRoomForUnfinished
      }
      state.memory.release(bytes, of: address)
      return nil
    }
    guard refusal == nil else { return refusal }
    reservation.bytes = 0
    reservation.streamedTo = service
    return nil
  }

  func release(_ reservation: Reservation) {
    state.withLock { state in
      state.memory.release(reservation.bytes, of: reservation.address)
      if let service = reservation.streamedTo { state.streams[service.index].release(1, of: reservation.address) }
    }
  }
}

/// A capacity that addresses share. One address gets at most a sixteenth of what is left, so that exhausting the
/// capacity takes more addresses than may have connections (the dynamic thresholds of Choudhury and Hahne).
struct FairShare {
  private let capacity: Int
  private(set) var taken = 0
  private var byAddress: [IPAddress: Int] = [:]

  init(of capacity: Int) { self.capacity = capacity }

  func taken(by address: IPAddress) -> Int { byAddress[address] ?? 0 }

  /// - Returns: false when `amount` is more than the address may have; nothing is taken then.
  mutating func take(_ amount: Int, for address: IPAddress) -> Bool {
    let own = taken(by: address)
    let left = capacity - taken
    guard amount <= left, own == 0 || own + amount <= left / 16 else { return false }
    taken += amount
    byAddress[address] = own + amount
    return true
  }

  mutating func release(_ amount: Int, of address: IPAddress) {
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
