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
      let next = state.after(event, hasInvite: hasInvite)
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

  @Test func anAppThatWasKilledGoesOnWhereItWas() async throws {
    let (client, transport) = try await KithClient.scripted(isSignedIn: false) { request, _ in
      switch request.url.path {
      case "/api/auth/request-verification": .json(#"{"message":"","expires_in":300}"#)
      case "/api/auth/verify/confirm":
        .json(
          #"{"access_token":"a.b.c","refresh_token":"r","expires_in":900,"user":{"id":"u","phone_number":"+1","#
            + #""first_name":""}}"#)
      case "/api/invites/redeem": .json(#"{"group_id":"g","group_name":"Us"}"#)
      default: .json(#"{"user":{"id":1,"email":"","name":"Alice"}}"#)
      }
    }
    let (file, linkFile) = (URL.temporaryFile, URL.temporaryFile)
    func restarted() -> (Onboarding, DeepLinks) {
      let links = DeepLinks(client: client, file: linkFile, webHosts: [])
      return (Onboarding(client: client, links: links, file: file), links)
    }
    let link = try #require(URL(string: "daily://invite?code=k7qm2x"))
    var (onboarding, links) = restarted()
    #expect(try await links.open(link) == .waiting)
    try await onboarding.begin()
    try await onboarding.enter(phoneNumber: "555 000 1111", callingCode: "1")
    (onboarding, links) = restarted()
    #expect(await onboarding.state.step == .codeVerification)
    try await onboarding.enter(code: "123456")
    (onboarding, links) = restarted()
    #expect(await onboarding.state.step == .inviteRedemption)
    #expect(try await onboarding.redeemInvite() == .redeemed(.group(JoinedGroup(groupID: "g", groupName: "Us"))))
    (onboarding, links) = restarted()
    #expect(await onboarding.state.step == .nameEntry)
    await #expect(throws: KithFailure.self) { try await onboarding.enter(firstName: "  ") }
    try await onboarding.enter(firstName: " Alice ")
    try await onboarding.answerPermissions()
    (onboarding, links) = restarted()
    #expect(await onboarding.isComplete)
    #expect(try await links.open(link) == .ignored)
    #expect(transport.requests.filter { $0.url.path == "/api/invites/redeem" }.count == 1)
  }
}
