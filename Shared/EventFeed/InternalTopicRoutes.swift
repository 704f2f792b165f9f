import Hummingbird
import Web
import Wire

/// The queries of a service about the topics that are its own.
package protocol TopicQuerying: Sendable {
  /// The rights of a user; ``TopicAccess/none`` also for topics that do not exist, or are another service's.
  func access(of user: UserID, to topic: String) async throws -> TopicAccess

  /// All topics that the user may read.
  func topics(of user: UserID) async throws -> [String]
}

/// The query of a service that knows all who may read its topics.
package protocol TopicReaderQuerying: TopicQuerying {
  /// At most ``TopicReaders/usersMax`` of those whose ids come after `user`, in their order; nobody for topics that do
  /// not exist, or are another service's.
  func readers(of topic: String, after user: UserID) async throws -> [UserID]
}

/// The internal routes by which other services, which is mostly the events service, ask a service who may read its
/// topics.
package struct InternalTopicRoutes: Sendable {
  private let store: any TopicQuerying
  private let grantDelivery: GrantDelivery?
  private let askingForReaders: Set<String>

  /// - Parameters:
  ///   - feed: which delivers the events of the topics.
  ///   - askingForReaders: the services that may ask who the readers of a topic are.
  package init(_ store: some TopicQuerying, of feed: EventFeed, askingForReaders: Set<String> = ["events"]) {
    self.store = store
    grantDelivery = feed.grantDelivery
    self.askingForReaders = askingForReaders
  }

  package func add(to routes: HTTPRoutes) {
    let eventsRoutes = routes.group(context: ServiceCaller.self).add(middleware: RequiresService(["events"]))
    eventsRoutes.get("/internal/topics/access", use: access)
    eventsRoutes.get("/internal/topics", use: topics)
    if let store = store as? any TopicReaderQuerying {
      routes.group(context: ServiceCaller.self).add(middleware: RequiresService(askingForReaders))
        .get("/internal/topics/readers") { request, _ -> Response in
          .exactJSON(TopicReaders(users: try await store.readers(of: request.topic(), after: request.lastUser())))
        }
    }
  }

  @Sendable private func access(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let (user, topic) = (try request.userID(), try request.topic())
    let access = try await store.access(of: user, to: topic)
    if access.read { try await grantDelivery?.waitForGrant(of: user, to: [topic]) }
    return .exactJSON(access)
  }

  @Sendable private func topics(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let user = try request.userID()
    let topics = try await store.topics(of: user)
    // Events of before that were not delivered either would reach who listens to these topics from now on.
    if !topics.isEmpty { try await grantDelivery?.waitForGrant(of: user, to: Set(topics)) }
    return .exactJSON(ReadableTopics(topics: topics))
  }
}

extension Request {
  fileprivate func topic() throws(Failure) -> String {
    guard let topic = uri.queryParameters["topic"] else { throw .invalid(.init("topic", "is required")) }
    return String(topic)
  }

  /// The user after whom a page begins.
  fileprivate func lastUser() throws(Failure) -> UserID {
    uri.queryParameters["after"] == nil ? .beforeAll : try userID("after")
  }

  fileprivate func userID(_ parameter: Substring = "user_id") throws(Failure) -> UserID {
    guard let user = uri.queryParameters[parameter].flatMap({ UserID(String($0)) }) else {
      throw .invalid(.init(String(parameter), "must be a UUID"))
    }
    return user
  }
}
