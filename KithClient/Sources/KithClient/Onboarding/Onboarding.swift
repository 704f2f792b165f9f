import Foundation

/// Leads a new user from the welcome to the first screen of the app. An app that was killed goes on where it was.
public actor Onboarding {
  private let client: KithClient
  private let links: DeepLinks
  private let file: StateFile<OnboardingState>
  /// Stored by each step.
  public private(set) var state: OnboardingState

  /// - Parameter file: where the state is kept; in the app's Application Support folder.
  public init(client: KithClient, links: DeepLinks, file: URL) {
    self.client = client
    self.links = links
    self.file = StateFile(file)
    state = self.file.read() ?? OnboardingState()
  }

  public var isComplete: Bool { state.step == .complete }

  /// To be called at the start of the app: a session that was stored just before the app was killed is gone on with.
  /// Safe to repeat.
  ///
  /// - Throws: ``KithFailure``, when the server cannot be asked for the user's name.
  public func resume() async throws {
    guard state.step == .codeVerification, case .signedIn = await client.auth.sessions.state else { return }
    try await advance(.signedIn(firstName: try await client.auth.profile().name ?? ""))
  }

  /// From the welcome to the phone number. This and the other steps throw the errors of the file system, and the
  /// failures of their call; the step then stays. One that does not belong to the present step changes nothing.
  public func begin() async throws { try await advance(.begun) }

  /// Has a code texted.
  ///
  /// - Parameters:
  ///   - typed: with or without the country code.
  ///   - callingCode: of the user's country.
  public func enter(phoneNumber typed: String, callingCode: String) async throws {
    guard let number = PhoneNumber(typed, inCountry: callingCode) else {
      throw KithFailure.invalid("This is not a phone number.")
    }
    _ = try await client.auth.requestCode(phoneNumber: number.text)
    try await advance(.codeSent(phoneNumber: number.text))
  }

  /// Back to the phone number.
  public func correctNumber() async throws { try await advance(.numberRejected) }

  /// Signs in with the texted code.
  public func enter(code: String) async throws {
    guard state.step == .codeVerification else { return }
    let user = try await client.auth.signIn(phoneNumber: state.phoneNumber, code: code)
    try await advance(.signedIn(firstName: user.firstName))
  }

  /// Redeems the invite that waits.
  ///
  /// - Throws: why it was refused; onboarding goes on all the same.
  @discardableResult
  public func redeemInvite() async throws -> DeepLinks.Outcome {
    guard state.step == .inviteRedemption else { return .ignored }
    let outcome: DeepLinks.Outcome
    do { outcome = try await links.redeemPending() } catch {
      try await advance(.inviteSettled)
      throw error
    }
    // Without a network it can be tried again.
    if outcome != .waiting { try await advance(.inviteSettled) }
    return outcome
  }

  /// On without the invite, which goes on waiting.
  public func postponeInvite() async throws { try await advance(.invitePostponed) }

  /// - Throws: ``KithFailure/invalid(_:)`` for an empty name.
  public func enter(firstName: String) async throws {
    let next = state.after(.named(firstName), hasInvite: false)
    guard next != state else { throw KithFailure.invalid("Please enter a name.") }
    _ = try await client.auth.changeProfile(name: next.firstName)
    try await advance(.named(firstName))
  }

  /// After the app has asked for notifications and contacts, whatever the answers were.
  public func answerPermissions() async throws { try await advance(.permissionsAnswered) }

  private func advance(_ event: OnboardingState.Event) async throws {
    let next = state.after(event, hasInvite: await links.pending != nil)
    guard next != state else { return }
    try file.write(next)
    state = next
  }
}
