import Foundation

public enum VerificationResult<SignedType> {
  case unverified(SignedType, any Error)
  case verified(SignedType)
  public var jwsRepresentation: String { fatalError() }
}
extension VerificationResult: Sendable where SignedType: Sendable {}

public struct Transaction: Sendable {
  public struct Transactions: AsyncSequence, Sendable {
    public typealias Element = VerificationResult<Transaction>
    public struct AsyncIterator: AsyncIteratorProtocol {
      public mutating func next() async -> Element? { fatalError() }
    }
    public func makeAsyncIterator() -> AsyncIterator { fatalError() }
  }

  public static var unfinished: Transactions { fatalError() }
  public static var updates: Transactions { fatalError() }
  public func finish() async {}
}

public struct Product: Sendable {
  public struct PurchaseOption: Hashable, Sendable {
    public static func appAccountToken(_ token: UUID) -> PurchaseOption { fatalError() }
  }

  public enum PurchaseResult: Sendable {
    case success(VerificationResult<Transaction>)
    case userCancelled
    case pending
  }

  public static func products(for identifiers: some Collection<String>) async throws -> [Product] { fatalError() }
  @MainActor public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult { fatalError() }
}
