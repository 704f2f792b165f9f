import Foundation
import Testing

@testable import KithClient

/// The steps of a new user, on every path.
@Suite struct OnboardingTests {
  private typealias Event = OnboardingState.Event
  private static let number = "+15550001111"

  @Test(arguments: [true, false], ["", "Alice"])
  func everyPathEndsWithAName(hasInvite: Bool, firstName: String) {
    var steps: [OnboardingState.Step] = []
    var state = OnboardingState()
    let events: [Event] = [
      .begun, .codeSent(phoneNumber: Self.number), .signedIn(firstName: firstName), .inviteSettled, .named("Bob"),
      .permissionsAnswered,
    ]
    for event in events {
      let next = state.after(event, hasInvite: hasInvite && event != .inviteSettled)
      if next != state { steps.append(next.step) }
      state = next
    }
    let expected: [OnboardingState.Step] =
      [.phoneVerification, .codeVerification] + (hasInvite ? [.inviteRedemption] : [])
      + (firstName.isEmpty ? [.nameEntry] : []) + [.permissions, .complete]
    #expect(steps == expected)
    #expect(state.firstName == (firstName.isEmpty ? "Bob" : firstName))
  }

  /// Every state that can be reached, by every event in every order.
  @Test func nobodyIsThroughWithoutANameAndANumber() {
    let events: [Event] = [
      .begun, .codeSent(phoneNumber: Self.number), .numberRejected, .signedIn(firstName: " "),
      .signedIn(firstName: "Alice"), .inviteSettled, .invitePostponed, .named("  "), .named("Bob"),
      .permissionsAnswered,
    ]
    var seen: [OnboardingState] = [OnboardingState()]
    var index = 0
    while index < seen.count {
      for event in events {
        for hasInvite in [true, false] {
          let next = seen[index].after(event, hasInvite: hasInvite)
          if !seen.contains(next) { seen.append(next) }
        }
      }
      index += 1
    }
    #expect(Set(seen.map(\.step)) == Set(OnboardingState.Step.allCases))
    for state in seen where state.step == .complete || state.step == .permissions {
      #expect(!state.firstName.isEmpty && state.phoneNumber == Self.number)
    }
  }

  /// An app that is killed after every step, and in the middle of those that ask the server.
  private struct Phone {
    let client: KithClient
    let transport: ScriptedTransport
    private let file = URL.temporaryFile
    private let linkFile = URL.temporaryFile

    /// - Parameter losesAnswers: the first answer to each path is lost, after the server has done what was asked.
    init(firstName: String, losesAnswers: Bool = false) async throws {
      let seen = Seen()
      (client, transport) = try await KithClient.scripted(isSignedIn: false) { request, _ in
        if losesAnswers, seen.isFirst(request.url.path) { throw CancellationError() }
        return switch request.url.path {
        case "/api/auth/request-verification": .json(#"{"message":"","expires_in":300}"#)
        case "/api/auth/verify/confirm":
          .json(
            #"{"access_token":"a.b.c","refresh_token":"r","expires_in":900,"user":{"id":"u","phone_number":"+1","#
              + #""first_name":"\#(firstName)"}}"#)
        case "/api/invites/redeem": .json(#"{"group_id":"g","group_name":"Us"}"#)
        default: .json(#"{"user":{"id":1,"email":"","name":"\#(firstName)"}}"#)
        }
      }
    }

    /// What a new start of the app has.
    func started() -> (Onboarding, DeepLinks) {
      let links = DeepLinks(client: client, file: linkFile, webHosts: [])
      return (Onboarding(client: client, links: links, file: file), links)
    }

    func count(_ path: String) -> Int { transport.requests.filter { $0.url.path == path }.count }
  }

  /// `@unchecked Sendable`: `paths` is only used under the lock.
  private final class Seen: @unchecked Sendable {
    private let lock = NSLock()
    private var paths: Set<String> = []
    func isFirst(_ path: String) -> Bool { lock.withLock { paths.insert(path).inserted } }
  }

  private static let link = URL(string: "daily://invite?code=k7qm2x") ?? .server
  private static let redeemed = DeepLinks.Outcome.redeemed(.group(JoinedGroup(groupID: "g", groupName: "Us")))

  @Test(arguments: [true, false], ["", "Alice"])
  func anAppThatIsKilledAtEveryStepGoesOnWhereItWas(hasInvite: Bool, firstName: String) async throws {
    let phone = try await Phone(firstName: firstName)
    #expect(await phone.started().0.state.step == .welcome)
    if hasInvite { #expect(try await phone.started().1.open(Self.link) == .waiting) }
    try await phone.started().0.begin()
    #expect(await phone.started().0.state.step == .phoneVerification)
    try await phone.started().0.enter(phoneNumber: "555 000 2222", callingCode: "1")
    try await phone.started().0.correctNumber()
    #expect(await phone.started().0.state.step == .phoneVerification)
    try await phone.started().0.enter(phoneNumber: "555 000 1111", callingCode: "1")
    #expect(await phone.started().0.state.phoneNumber == Self.number)
    #expect(await phone.started().0.state.step == .codeVerification)
    try await phone.started().0.enter(code: "123456")
    if hasInvite {
      #expect(await phone.started().0.state.step == .inviteRedemption)
      #expect(try await phone.started().0.redeemInvite() == Self.redeemed)
    }
    if firstName.isEmpty {
      #expect(await phone.started().0.state.step == .nameEntry)
      await #expect(throws: KithFailure.self) { try await phone.started().0.enter(firstName: "  ") }
      #expect(await phone.started().0.state.step == .nameEntry)
      try await phone.started().0.enter(firstName: " Alice ")
    }
    #expect(await phone.started().0.state.step == .permissions)
    try await phone.started().0.answerPermissions()
    #expect(await phone.started().0.isComplete)
    #expect(await phone.started().0.state.firstName == "Alice")
    #expect(try await phone.started().1.redeemPending() == .ignored)
    #expect(phone.count("/api/invites/redeem") == (hasInvite ? 1 : 0))
  }

  @Test func anAppThatIsKilledWhileItAsksTheServerAsksAgain() async throws {
    let phone = try await Phone(firstName: "", losesAnswers: true)
    #expect(try await phone.started().1.open(Self.link) == .waiting)
    try await phone.started().0.begin()
    for _ in 0..<2 { try? await phone.started().0.enter(phoneNumber: "555 000 1111", callingCode: "1") }
    await #expect(throws: CancellationError.self) { try await phone.started().0.enter(code: "123456") }
    #expect(await phone.started().0.state.step == .codeVerification)
    // That code may be used up: another one.
    try await phone.started().0.enter(phoneNumber: "555 000 1111", callingCode: "1")
    try await phone.started().0.enter(code: "654321")
    await #expect(throws: CancellationError.self) { try await phone.started().0.redeemInvite() }
    #expect(await phone.started().0.state.step == .inviteRedemption)
    #expect(try await phone.started().0.redeemInvite() == Self.redeemed)
    await #expect(throws: CancellationError.self) { try await phone.started().0.enter(firstName: "Alice") }
    #expect(await phone.started().0.state.step == .nameEntry)
    try await phone.started().0.enter(firstName: "Alice")
    try await phone.started().0.answerPermissions()
    #expect(await phone.started().0.isComplete)
    let keys = phone.transport.requests.filter { $0.url.path == "/api/invites/redeem" }
      .map { $0.headers["Idempotency-Key"] }
    #expect(keys.count == 2 && keys[0] == keys[1])
  }

  @Test(arguments: ["", "Alice"]) func aSessionThatWasStoredBeforeTheStepIsGoneOnWith(name: String) async throws {
    let phone = try await Phone(firstName: name)
    try await phone.started().0.begin()
    try await phone.started().0.resume()
    try await phone.started().0.enter(phoneNumber: "555 000 1111", callingCode: "1")
    try await phone.started().0.resume()
    #expect(await phone.started().0.state.step == .codeVerification)
    // Signed in, and killed before the step was stored.
    _ = try await phone.client.auth.signIn(phoneNumber: Self.number, code: "123456")
    try await phone.started().0.resume()
    #expect(await phone.started().0.state.step == (name.isEmpty ? .nameEntry : .permissions))
  }

  @Test func aPostponedInviteWaits() async throws {
    let phone = try await Phone(firstName: "")
    #expect(try await phone.started().1.open(Self.link) == .waiting)
    #expect(try await phone.started().1.open(try #require(URL(string: "daily://invite?code=BBBB22"))) == .waiting)
    try await phone.started().0.begin()
    try await phone.started().0.enter(phoneNumber: "555 000 1111", callingCode: "1")
    try await phone.started().0.enter(code: "123456")
    #expect(try await phone.started().0.redeemInvite() == Self.redeemed)
    // The other one.
    #expect(await phone.started().0.state.step == .inviteRedemption)
    try await phone.started().0.postponeInvite()
    #expect(await phone.started().0.state.step == .nameEntry)
    #expect(await phone.started().1.pending == .code("BBBB22"))
    try await phone.started().0.enter(firstName: "Alice")
    try await phone.started().0.answerPermissions()
    #expect(try await phone.started().1.redeemPending() == Self.redeemed)
  }
}
