import Foundation
import Support

extension TestStack {
  /// A notification as Apple posts it about a user.
  func appleNotification(
    _ type: String, id: String = UUID().uuidString, subject: String = "001234.alice", at then: Date? = nil,
    changing changes: [String: (any Sendable)?] = [:]
  ) throws -> String {
    let seconds = Int(clock.now.timeIntervalSince1970)
    let milliseconds = Int((then ?? clock.now).timeIntervalSince1970 * 1000)
    let event = """
      {"type":"\(type)","sub":"\(subject)","email":"alice@privaterelay.appleid.com","is_private_email":"true",\
      "event_time":\(milliseconds)}
      """
    var claims: [String: any Sendable] = [
      "iss": "https://appleid.apple.com", "aud": "com.example.kith", "iat": seconds, "exp": seconds + 86_400,
      "jti": id, "events": event,
    ]
    for (name, value) in changes { claims[name] = value }
    return try apple.sign(claims)
  }
}
