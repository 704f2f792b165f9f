import Foundation
import Hummingbird
import Tokens
import Web
import Wire

extension Response {
  /// Adds sessions that have just ended to the list of this process, and to a header that the gateway reads.
  func withEndedSessions(_ sessions: [EndedSession], _ list: EndedSessionList) -> Response {
    guard !sessions.isEmpty else { return self }
    for entry in sessions { list.add(entry.session, until: entry.until) }
    var response = self
    // The size of headers is limited; further sessions arrive with the feed, a second later.
    response.headers[.endedSessions] = sessions.prefix(64)
      .map { "\($0.session)=\(Int($0.until.timeIntervalSince1970.rounded(.up)))" }.joined(separator: ",")
    return response
  }
}
