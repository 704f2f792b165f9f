import Database
import Foundation
import Gateway
import Support
import Testing
import Web
import Wire

/// What stops and what goes on while a part is away, as `docs/operations.md` has it.
@Suite struct OutageTests {
  private func withScenario(_ body: (StackScenario) async throws -> Void) async throws {
    try await withStack(.sqlite, TestStack.eventsURL, isApart: true) { stack in try await body(StackScenario(stack)) }
  }

  @Test func theRoutesOfAServiceThatIsAwayStopAndNoOthers() async throws {
    try await withScenario { scenario in
      // The names of people are known from then on, also while auth is away.
      for service in ServiceName.allCases { try await scenario.expectServed(service, "the premise") }
      for service in ServiceName.allCases {
        try await scenario.without(service) {
          try await scenario.expectUnavailable(service)
          for other in ServiceName.allCases where other != service {
            try await scenario.expectServed(other, "without \(service)")
          }
        }
        try await eventually("\(service)") {
          try await scenario.alice.browser.get(scenario.reads(of: service)[0]).status == 200
        }
      }
    }
  }

  @Test func anotherGatewayTakesOver() async throws {
    try await withStack(.sqlite, isApart: true) { stack in
      let alice = try await stack.signIn("alice")
      let second = try buildGateway(stack.dependencies(of: "gateway"))
      let there: SignedInUser = try await running([second]) {
        let there = alice.through(Browser("http://127.0.0.1:\(try await second.port.number)"))
        try await eventually("the second") { try await there.browser.get("/api/v1/lists").status == 200 }
        return there
      }
      await #expect(throws: (any Error).self) { _ = try await there.browser.get("/api/v1/lists") }
      #expect(try await alice.browser.get("/api/v1/lists").status == 200)
    }
  }

  /// What signed-in people have meanwhile is in ``AuthOutageTests``.
  @Test func withoutAuthNobodyComesOrGoesOrIsFound() async throws {
    try await withScenario { scenario in
      let gateway = scenario.stack.gateway
      let credentials = ["email": "alice@example.com", "password": "correct horse"]
      let token = ["refresh_token": scenario.carol.refresh]
      try await scenario.without(.auth) {
        for (path, body) in [
          ("sign_in", credentials), ("sign_up", credentials), ("refresh", token), ("logout", token),
        ] {
          try await scenario.expectUnavailable(path) { try await gateway.post("/api/v1/auth/\(path)", body) }
        }
        try await scenario.expectUnavailable("an address") {
          try await scenario.add("carol@example.com", to: scenario.lists.shared)
        }
      }
      try await eventually("carol") {
        try await scenario.add("carol@example.com", to: scenario.lists.shared).status == 201
      }
      #expect(try await gateway.post("/api/v1/auth/refresh", token).status == 200)
    }
  }

  @Test func withoutInvitesOnlyThoseAreAddedWhoNeedNone() async throws {
    try await withScenario { scenario in
      try await scenario.without(.invites) {
        try await scenario.expectUnavailable("a stranger") {
          try await scenario.add("dora@example.com", to: scenario.lists.own)
        }
        #expect(try await scenario.add("bob@example.com", to: scenario.lists.own).status == 201)
        try await scenario.expectUnavailable("joining") { try await scenario.carolJoinsTheCollection() }
      }
      try await eventually("an invite") {
        try await scenario.add("dora@example.com", to: scenario.lists.own).status == 202
      }
    }
  }

  @Test func withoutGroupsWhatAsksThemStopsToo() async throws {
    try await withScenario { scenario in
      let (alice, bob) = (scenario.alice.browser, scenario.bob.browser)
      try await scenario.without(.groups) {
        // Which groups somebody is in is known for two seconds.
        try await eventually("hunts") { try await alice.get("/rest/v1/scavenger_hunts").status == 503 }
        try await scenario.expectUnavailable("a share") { try await scenario.share(with: scenario.bob) }
        #expect(try await bob.get("/rest/v1/eta_shares").list.count == 1)
        try await scenario.expectUnavailable("a list") { try await scenario.carolJoinsTheList() }
        try await scenario.expectUnavailable("a collection") { try await scenario.carolJoinsTheCollection() }
        try await scenario.expectUnavailable("somebody new") {
          try await scenario.add(scenario.carol.id.description, to: scenario.lists.shared)
        }
        try await scenario.expectUnavailable("the invites to a group") {
          try await alice.get("/api/invites/pending/\(scenario.group)")
        }
        // What goes on.
        let plan: [String: any Sendable] = ["title": "A walk", "stops": [String]()]
        #expect(try await alice.post("/rest/v1/adventure_plans", plan).status == 201)
        #expect(try await scenario.add(scenario.bob.id.description, to: scenario.lists.own).status == 201)
        #expect(try await scenario.makeScene().status == 200)
      }
      try await eventually("hunts") { try await alice.get("/rest/v1/scavenger_hunts").status == 200 }
    }
  }

  @Test func withoutGroupsBlocksBetweenPeopleOfOneListDoNotCount() async throws {
    try await withScenario { scenario in
      func friends() async throws -> Int {
        (try await scenario.alice.browser.get("/api/v1/friends")["friends"] as? [Any])?.count ?? -1
      }
      #expect(try await friends() == 1)
      #expect(try await scenario.alice.browser.post("/users/\(scenario.bob.id)/block").status == 200)
      #expect(try await friends() == 0)
      try await scenario.without(.groups) {
        let shown = try await friends()
        #expect(shown == 1)
      }
    }
  }

  @Test func withoutListsNobodyJoinsOne() async throws {
    try await withScenario { scenario in
      try await scenario.without(.lists) {
        try await scenario.expectUnavailable("a list") { try await scenario.carolJoinsTheList() }
        try await scenario.expectUnavailable("its name") {
          try await scenario.carol.browser.get("/api/v1/invites/\(scenario.invites.toList)")
        }
        #expect(try await scenario.carolJoinsTheCollection().status == 200)
      }
    }
  }

  @Test func withoutCreditsNoSceneIsBegun() async throws {
    try await withScenario { scenario in
      try await scenario.without(.credits) {
        try await scenario.expectUnavailable("a scene") { try await scenario.makeScene() }
      }
      func balance() async throws -> Int? {
        try await scenario.alice.browser.get("/api/v1/credits/balance").int("balance")
      }
      try await eventually("the balance") { try await balance() == 50 }
      #expect(try await scenario.makeScene().status == 200)
      #expect(try await balance() == 45)
    }
  }

  /// Their events arrive afterwards: `whatIsRecordedDuringAnOutageArrivesAfterIt` of `EventFeedTests`.
  @Test func withoutEventsEverythingIsChangedAsBefore() async throws {
    try await withScenario { scenario in
      try await scenario.without(.events) {
        let tasks = "/api/v1/lists/\(scenario.lists.shared)/tasks"
        #expect(try await scenario.bob.browser.post(tasks, ["task": ["title": "Bread"]]).status == 201)
        let place: [String: any Sendable] = [
          "name": "The Mill", "address": "1 Street", "latitude": 48.2, "longitude": 16.4,
        ]
        #expect(try await scenario.alice.browser.post("/rest/v1/saved_places", place).status == 201)
        try await scenario.expectUnavailable("a stream") {
          try await scenario.alice.browser.get("/realtime/v1/events?topic=lists:\(scenario.lists.shared)")
        }
      }
    }
  }

  @Test(.enabled(if: engines.contains(.postgres))) func withoutPostgreSQLNothingIsAcknowledgedOrLost() async throws {
    try await withPostgresServer { server in
      try await withStack(.sqlite, ["DATABASE_URL": server.url], isApart: true) { stack in
        let scenario = try await StackScenario(stack)
        let tasks = "/api/v1/lists/\(scenario.lists.shared)/tasks"
        try await server.stop()
        for service in ServiceName.allCases { try await scenario.expectUnavailable(service) }
        try await scenario.expectUnavailable("a task") {
          try await scenario.bob.browser.post(tasks, ["task": ["title": "Bread"]])
        }
        for browser in [stack.auth, stack.lists, stack.events, stack.gateway] {
          #expect(try await browser.get("/health/live").status == 200)
        }
        try await server.start()
        for service in ServiceName.allCases {
          for path in scenario.reads(of: service) {
            try await eventually(path) { try await scenario.alice.browser.get(path).status == 200 }
          }
        }
        #expect((try await scenario.bob.browser.get(tasks)["tasks"] as? [Any])?.count == 1)
      }
    }
  }
}
