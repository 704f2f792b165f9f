import Foundation
import Hummingbird
import Support
import Web
import Wire

/// A substitute for auth in which every user exists and none has a verified credential.
final class UnprovenUsersServer: Sendable {
  private let listening = ListeningPort()

  var url: String {
    get async throws { "http://127.0.0.1:\(try await listening.number)" }
  }

  func server() -> some ApplicationProtocol {
    let router = Router()
    router.post("/internal/users/people") { request, _ -> Response in
      let ids = try await request.json(PeopleQuery.self).ids
      return .exactJSON(
        People(people: ids.enumerated().map { Person(id: $1, number: 7000 + $0, name: "bob", isProven: false) }))
    }
    router.get("/internal/users/person") { _, _ -> Response in
      .exactJSON(Person(id: UserID.new(at: Date()), number: 1, name: "somebody"))
    }
    return loopbackServer(router, listening)
  }
}
