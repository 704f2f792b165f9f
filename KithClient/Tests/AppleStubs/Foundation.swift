import Foundation
import FoundationNetworking

// Compiled together with KithClient's sources: what Foundation has on Apple's systems only.

extension NotificationCenter {
  struct Notifications: AsyncSequence {
    struct AsyncIterator: AsyncIteratorProtocol {
      mutating func next() async -> Notification? { fatalError() }
    }
    func makeAsyncIterator() -> AsyncIterator { fatalError() }
  }
  func notifications(named name: Notification.Name, object: AnyObject? = nil) -> Notifications { fatalError() }
}

extension URLSessionConfiguration {
  class func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
  var identifier: String? { fatalError() }
  var isDiscretionary: Bool {
    get { fatalError() }
    set {}
  }
  var sessionSendsLaunchEvents: Bool {
    get { fatalError() }
    set {}
  }
  var sharedContainerIdentifier: String? {
    get { fatalError() }
    set {}
  }
}

extension URLSession {
  var allTasks: [URLSessionTask] { get async { fatalError() } }
}
