import Foundation
import Logging
import Web
import Wire

/// How much the providers may be used, by one request and in a day.
struct ProviderBudgets: Sendable {
  let usage: ProviderUsageStore
  let callsPerRequest: Int
  let tokensPerRequest: Int
  /// nil for no limit.
  let tokensPerDay: Int?
  let now: @Sendable () -> Date
  let logger: Logger

  /// - Throws: ``StartFailure``.
  init(_ usage: ProviderUsageStore, in dependencies: Dependencies) throws {
    let settings = dependencies.settings
    self.usage = usage
    callsPerRequest = try settings.int("PROVIDER_CALLS_PER_REQUEST", default: 60, in: 12...10_000)
    tokensPerRequest = try settings.int("PROVIDER_TOKENS_PER_REQUEST", default: 300_000, in: 1000...100_000_000)
    let day = try settings.int("PROVIDER_TOKENS_PER_DAY", default: 0, in: 0...1_000_000_000_000)
    tokensPerDay = day == 0 ? nil : day
    now = dependencies.now
    logger = dependencies.logger
  }

  /// Gives one request its budget, and counts afterwards what it has used, also when it failed. A process that is
  /// killed leaves its last requests uncounted.
  ///
  /// - Throws: ``PipelineFailure/overloaded(retryAfterSeconds:)`` until midnight (UTC) when the day has used its tokens.
  func withBudget<T: Sendable>(_ body: (RequestBudget) async throws -> T) async throws -> T {
    try await requireTokensLeft()
    let budget = RequestBudget(callsMax: callsPerRequest, tokensMax: tokensPerRequest)
    do {
      let result = try await body(budget)
      await count(budget)
      return result
    } catch {
      await count(budget)
      throw error
    }
  }

  private func requireTokensLeft() async throws {
    guard let tokensPerDay else { return }
    let time = now()
    guard try await usage.tokens(on: Self.day(time)) >= tokensPerDay else { return }
    let secondsOfDay = Int(time.timeIntervalSince1970.truncatingRemainder(dividingBy: 86_400))
    throw PipelineFailure.overloaded(retryAfterSeconds: max(1, 86_400 - secondsOfDay))
  }

  private func count(_ budget: RequestBudget) async {
    let (calls, tokens) = budget.used
    guard calls > 0 else { return }
    let day = Self.day(now())
    // A task of its own: the request may be cancelled, and has used the tokens.
    await Task { [usage, logger] in
      do { try await usage.add(calls: calls, tokens: tokens, on: day) } catch {
        logger.warning("tokens of a request are not counted", metadata: ["error": "\(error)"])
      }
    }.value
  }

  private static func day(_ time: Date) -> String { String(RFC3339.seconds(time).prefix(10)) }
}
