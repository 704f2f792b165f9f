/// How far a new user has come. A value without network or clock, so that every path can be tested.
public struct OnboardingState: Sendable, Equatable, Codable {
  /// What the user is shown.
  public enum Step: String, Sendable, Codable, CaseIterable {
    case welcome, phoneVerification, codeVerification, inviteRedemption, nameEntry, permissions, complete
  }

  /// What has happened.
  public enum Event: Sendable, Equatable {
    case begun
    /// A code is on its way to the number.
    case codeSent(phoneNumber: String)
    /// The user wants to correct the number.
    case numberRejected
    /// The name is empty for a new account.
    case signedIn(firstName: String)
    /// The invite was redeemed, or refused for good.
    case inviteSettled
    /// The user does not want to use the invite now. It goes on waiting.
    case invitePostponed
    case named(String)
    case permissionsAnswered
  }

  public private(set) var step = Step.welcome
  public private(set) var phoneNumber = ""
  public private(set) var firstName = ""

  /// At the welcome.
  public init() {}

  /// The state after an event; the same for one that does not belong to the step, such as a button that was tapped
  /// twice.
  ///
  /// - Parameter hasInvite: whether an invite waits to be redeemed.
  public func after(_ event: Event, hasInvite: Bool) -> OnboardingState {
    var next = self
    switch (step, event) {
    case (.welcome, .begun): next.step = .phoneVerification
    case (.phoneVerification, .codeSent(let number)), (.codeVerification, .codeSent(let number)):
      next.phoneNumber = number
      next.step = .codeVerification
    case (.codeVerification, .numberRejected): next.step = .phoneVerification
    case (.codeVerification, .signedIn(let name)):
      next.firstName = Self.trimmed(name)
      next.step = hasInvite ? .inviteRedemption : next.stepAfterInvite
    // Another one may wait.
    case (.inviteRedemption, .inviteSettled): if !hasInvite { next.step = stepAfterInvite }
    case (.inviteRedemption, .invitePostponed): next.step = stepAfterInvite
    case (.nameEntry, .named(let name)):
      guard !Self.trimmed(name).isEmpty else { return self }
      next.firstName = Self.trimmed(name)
      next.step = .permissions
    case (.permissions, .permissionsAnswered): next.step = .complete
    default: return self
    }
    return next
  }

  /// An invite goes before the name, and does not replace it: others see the name in the group.
  private var stepAfterInvite: Step { firstName.isEmpty ? .nameEntry : .permissions }

  private static func trimmed(_ name: String) -> String {
    var name = Substring(name)
    while name.first?.isWhitespace == true { name.removeFirst() }
    while name.last?.isWhitespace == true { name.removeLast() }
    return String(name)
  }
}
