import Clients
import Foundation
import StrictHTTP
import Tokens
import Web
import Wire

/// Decides who is calling, and remembers verdicts. One for each event loop, used on that loop only.
final class Bearer {
  enum Verdict {
    case known(Caller)
    case refused(Failure)
    /// The bearer was not looked at: too many that came from there were bad.
    case limited(LimitVerdict)
    /// Somebody else has to be asked: a key server, or auth. What they say is for ``Bearer/learn(_:)``.
    case ask(@Sendable () async -> Result<Answer, Failure>)
  }

  struct Answer: Sendable {
    let caller: Caller
    fileprivate var outsider: (token: String, believed: Outsiders.Believed)?
  }

  private let verification: Verification
  private let keys: ServiceKeys
  private let users: UsersClient
  private let now: @Sendable () -> Date
  private var verdicts = RememberedTokens(version: 0)

  init(_ verification: Verification, keys: ServiceKeys, users: UsersClient, now: @escaping @Sendable () -> Date) {
    self.verification = verification
    self.keys = keys
    self.users = users
    self.now = now
  }

  /// - Parameter refusal: why the sender's bearers are not looked at, if so. Asked before what costs time: a signature
  ///   takes as long to verify as many requests take to serve.
  func verdict(
    on head: RequestHead, _ bytes: Span<UInt8>, for bearer: Route.Bearer, unless refusal: () -> LimitVerdict?
  ) -> Verdict {
    switch bearer {
    case .none: return .known(.anonymous)
    case .service: return service(head, bytes)
    case .optional, .required:
      if let field = head.fields.first(.authorization) {
        guard let token = Self.token(bytes, field.value) else { return .refused(.invalidToken) }
        return verdict(on: token, bytes, unless: refusal)
      }
      if let acting = acting(head, bytes) { return acting }
      return bearer == .required ? .refused(.unauthorized) : .known(.anonymous)
    case .welcome:
      guard head.fields.first(.authorization) != nil else { return .known(.anonymous) }
      return Self.welcomed(verdict(on: head, bytes, for: .optional, unless: refusal))
    }
  }

  /// Whoever shows no good bearer is nobody in particular.
  private static func welcomed(_ verdict: Verdict) -> Verdict {
    switch verdict {
    case .known: return verdict
    case .refused, .limited: return .known(.anonymous)
    case .ask(let ask):
      return .ask {
        let answer = await ask()
        guard case .failure(let failure) = answer, failure.kind == .unauthorized else { return answer }
        return .success(Answer(caller: .anonymous))
      }
    }
  }

  private func verdict(
    on token: Range<Int>, _ bytes: Span<UInt8>, unless refusal: () -> LimitVerdict?
  ) -> Verdict {
    let now = now()
    if verdicts.version != verification.verifier.version {
      verdicts = RememberedTokens(version: verification.verifier.version)
    }
    if let remembered = verdicts.find(token, bytes, at: now), let verdict = judged(remembered) { return verdict }
    if let refusal = refusal() { return .limited(refusal) }
    let text = Self.text(bytes, token)
    do {
      if let believed = try verification.verifier.verifyNow(text, at: now) {
        return judged(verdicts.remember(believed, for: text)) ?? .refused(.sessionEnded)
      }
      if let outsider = outsider(text, now) { return outsider }
      return .ask { [verification] in await Self.askKeyServer(text, verification, now) }
    } catch {
      // Outside issuers' keys are none of ours, and their tokens may have types that ours never have.
      let mayBeAnothers = error == .unknownKey || error == .malformed
      return mayBeAnothers ? outsider(text, now) ?? .refused(Self.failure(error)) : .refused(Self.failure(error))
    }
  }

  /// nil when the token is of no configured issuer.
  private func outsider(_ token: String, _ now: Date) -> Verdict? {
    guard verification.outsiders.claim(token) else { return nil }
    return .ask { [verification] in
      do {
        let believed = try await verification.outsiders.believed(token, at: now)
        return .success(Answer(caller: Caller(user: believed.user), outsider: (token, believed)))
      } catch let rejected as TokenRejected {
        return .failure(Self.failure(rejected))
      } catch {
        return .failure(error as? Failure ?? .unavailable)
      }
    }
  }

  /// Remembers what was found out about a bearer of an outside issuer.
  func learn(_ answer: Answer) -> Caller {
    if let (token, believed) = answer.outsider { verdicts.remember(believed, answer.caller, for: token) }
    return answer.caller
  }

  private static func askKeyServer(
    _ token: String, _ verification: Verification, _ now: Date
  ) async -> Result<Answer, Failure> {
    do {
      let believed = try await verification.verifier.verify(token, at: now)
      guard !verification.ended.contains(believed.session) else { return .failure(.sessionEnded) }
      return .success(Answer(caller: Caller(user: believed.user, session: believed.session)))
    } catch let rejected as TokenRejected {
      return .failure(failure(rejected))
    } catch {
      return .failure(.unavailable)
    }
  }

  /// nil when what is remembered has to be asked for again.
  private func judged(_ believed: RememberedTokens.Believed) -> Verdict? {
    guard !verification.ended.contains(believed.session) else {
      return believed.isOurs ? .refused(.sessionEnded) : nil
    }
    return .known(believed.caller)
  }

  /// An outside system that shows its key.
  private func service(_ head: RequestHead, _ bytes: Span<UInt8>) -> Verdict {
    guard !keys.isEmpty else { return .refused(.serviceKeysUnset) }
    guard let service = presented(head, bytes) else { return .refused(.wrongServiceKey) }
    return .known(Caller(service: service.name))
  }

  /// An outside system that acts as a user; nil when there is no valid key or no user is named.
  private func acting(_ head: RequestHead, _ bytes: Span<UInt8>) -> Verdict? {
    guard let field = head.fields.first(.userID), let service = presented(head, bytes) else { return nil }
    guard service.mayAssertUsers else { return .refused(.mayNotAct) }
    let name = Self.text(bytes, field.value.start..<field.value.end)
    return .ask { [users] in
      do {
        guard let user = try await users.user(knownAs: name) else { return .failure(.userNotFound) }
        return .success(Answer(caller: Caller(user: user, service: service.name)))
      } catch {
        return .failure(error as? Failure ?? .unavailable)
      }
    }
  }

  private func presented(_ head: RequestHead, _ bytes: Span<UInt8>) -> CallingService? {
    head.fields.first(.serviceKey).flatMap {
      keys.service(presenting: Self.text(bytes, $0.value.start..<$0.value.end))
    }
  }

  /// Whether this is the key of a service or of an outside system.
  func isService(_ key: String) -> Bool { keys.service(presenting: key) != nil }

  /// RFC 6750 §2.1.
  private static func token(_ bytes: Span<UInt8>, _ value: Slice) -> Range<Int>? {
    let scheme: [UInt8] = Self.scheme
    guard value.count > scheme.count else { return nil }
    for index in scheme.indices {
      let byte = bytes[value.start + index]
      guard byte == scheme[index] || byte | 0x20 == scheme[index] else { return nil }
    }
    return value.start + scheme.count..<value.end
  }

  private static let scheme = Array("bearer ".utf8)

  private static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    bytes.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }

  private static func failure(_ rejected: TokenRejected) -> Failure {
    rejected == .expired ? .expiredToken : .invalidToken
  }
}

extension Failure {
  static let mayNotAct = Failure(.forbidden, "may_not_act", "This service key may not act as a user.")
}
