import Hummingbird
import Web

extension Request {
  /// Where a session is opened from.
  func visit(_ door: Door) -> Visit {
    let device = headers[.userAgent].map { String($0.prefix(200)) }
    return Visit(door: door, device: device.flatMap { $0.isEmpty ? nil : $0 }, place: place)
  }
}
