import Foundation
import StrictHTTP
import Support
import Testing
import Web

@testable import Gateway

/// The table of public routes.
@Suite struct RouteTests {
  private let table = RouteTable(publicRoutes)

  private func match(_ method: RequestHead.Method, _ path: String) throws -> RouteTable.Match {
    let bytes = Array("\(method.rawValue) \(path) HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
    var head = RequestHead()
    let isWhole = try head.read(bytes.span)
    #expect(isWhole)
    return table.match(method, bytes.span, head.path)
  }

  @Test func everyRouteIsReachedByItsOwnPathWithAndWithoutASlash() throws {
    for route in publicRoutes {
      let path = route.path.replacing(/\{[^}]*\}/, with: "0192a4b0-0000-7000-8000-000000000001")
      for path in [path, path + "/"] {
        guard case .route(let found) = try match(route.method, path) else {
          Issue.record("\(route.method) \(path) is not reached")
          continue
        }
        #expect(found === route, "\(route.method) \(path) goes to \(found.path)")
      }
    }
  }

  @Test func noRouteIsThereTwiceAndNoneIsInternal() {
    let names = publicRoutes.map { "\($0.method) \($0.path.replacing(/\{[^}]*\}/, with: "{}"))" }
    #expect(Set(names).count == names.count)
    #expect(!publicRoutes.contains { $0.path.hasPrefix("/internal") })
    let own = Set(LocalRoute.allCases.map(\.rawValue))
    #expect(!publicRoutes.contains { own.contains($0.path) })
  }

  @Test(arguments: [
    "POST /api/v1/auth/sign_in", "POST /auth/v1/token", "POST /api/auth/verify", "POST /collections/1/invites",
    "GET /invites/resolve", "POST /api/invites/redeem/ABC123", "GET /api/groups/", "POST /api/photos/upload",
    "GET /api/v1/lists/1/tasks/7", "PATCH /api/v1/tasks/7/complete", "GET /api/v1/tasks/search",
    "GET /api/v1/billing/products", "POST /webhooks/stripe", "POST /webhooks/apple/signin", "GET /i/ABC123",
    "GET /.well-known/apple-app-site-association", "PATCH /rest/v1/scavenger_hunts", "GET /api/v1/timepoints/1",
    "POST /users/1/block", "DELETE /users/1/block", "GET /api/v1/users/me/export", "GET /api/v1/today",
  ])
  func whatTheAppsCallIsInTheTable(line: String) throws {
    let parts = line.split(separator: " ")
    let method = try #require(RequestHead.Method(rawValue: String(parts[0])))
    guard case .route = try match(method, String(parts[1])) else {
      Issue.record("\(line) is not in the table")
      return
    }
  }

  @Test(arguments: ["/internal/users", "/internal/credits/spend", "/api/v1/auth/me/x", "/api", "/nowhere", "/healthy"])
  func whatIsNotInItIsNotFound(path: String) throws {
    for method in RequestHead.Method.allCases {
      guard case .notFound = try match(method, path) else {
        Issue.record("\(method) \(path) is found")
        continue
      }
    }
  }

  @Test func everyRouteOfAServiceThatIsNotThereSaysSo() async throws {
    try await withStack(.sqlite) { stack in
      stack.dependencies.serviceAddresses.set(.timepoints, to: [])
      let alice = try await stack.signIn("alice")
      for (path, bearer) in [
        ("/api/v1/timepoints", alice.browser), ("/api/v1/users/me/timepoints", alice.browser),
        ("/api/v1/timepoints/1", stack.gateway),
      ] {
        let response = try await bearer.get(path)
        #expect(response.status == 503, "\(path)")
        #expect(response.string("code") == "service_unavailable")
        #expect(response.headers.first(name: "retry-after") != nil)
      }
      #expect(try await stack.gateway.get("/api/v1/lists").status == 401)
    }
  }

  /// Every documented operation of a service has a public route.
  @Test func whatIsDocumentedIsInTheTable() async throws {
    try await withStack(.sqlite) { stack in
      for (service, browser) in [
        (ServiceName.auth, stack.auth), (.invites, stack.invites), (.groups, stack.groups), (.lists, stack.lists),
        (.credits, stack.credits), (.events, stack.events), (.adventures, stack.adventures),
        (.timepoints, stack.timepoints),
      ] {
        let document = try await browser.get("/openapi.json")
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        let own = Set(LocalRoute.allCases.map(\.rawValue))
        for (path, item) in paths where !path.hasPrefix("/internal") && !own.contains(path) {
          for name in item.keys {
            guard let method = RequestHead.Method(rawValue: name.uppercased()) else { continue }
            guard case .route(let route) = try match(method, path.replacing(/\{[^}]*\}/, with: "1")) else {
              Issue.record("\(name) \(path) is not in the table")
              continue
            }
            #expect(route.service == service)
          }
        }
      }
    }
  }
}
