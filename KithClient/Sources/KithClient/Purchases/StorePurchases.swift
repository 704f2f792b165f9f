#if canImport(StoreKit)
  import Foundation
  import StoreKit

  /// Buys in the App Store, and finishes a transaction only after the server has taken it.
  public struct StorePurchases: Sendable {
    /// What has become of a purchase.
    public enum Outcome: Sendable, Equatable {
      case granted(Billing.Granted)
      /// Someone has to agree first, such as a parent. It comes through ``updates()`` later.
      case pending
      case cancelled
    }

    private let client: KithClient

    /// To be kept as long as the app runs, for ``updates()``.
    public init(client: KithClient) { self.client = client }

    /// The App Store's products of what the server sells.
    public func products() async throws -> [Product] {
      let sold = try await client.billing.products()
      return try await Product.products(for: (sold.packs + sold.subscriptions).map(\.id))
    }

    /// Buys for the signed-in user: the transaction carries the user's id, so no other account can claim it.
    public func purchase(_ product: Product) async throws -> Outcome {
      guard let user = UUID(uuidString: try await client.auth.account().id) else {
        throw KithFailure.undecodable("the user's id is no UUID")
      }
      switch try await product.purchase(options: [.appAccountToken(user)]) {
      case .success(let result): return .granted(try await settle(result))
      case .pending: return .pending
      case .userCancelled: return .cancelled
      @unknown default: return .pending
      }
    }

    /// Sends what was interrupted, then what comes: renewals, and purchases on other devices. To be run from the start
    /// of the app, in a task of its own, while somebody is signed in.
    public func updates() -> AsyncStream<Result<Billing.Granted, any Error>> {
      // The server has what is dropped from a stream that nobody reads: the balance is read anew.
      AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
        let running = Task {
          for await result in Transaction.unfinished { continuation.yield(await settled(result)) }
          for await result in Transaction.updates { continuation.yield(await settled(result)) }
          continuation.finish()
        }
        continuation.onTermination = { _ in running.cancel() }
      }
    }

    private func settled(_ result: VerificationResult<Transaction>) async -> Result<Billing.Granted, any Error> {
      do { return .success(try await settle(result)) } catch { return .failure(error) }
    }

    /// A transaction that the server does not take stays unfinished, and is sent again at the next start.
    private func settle(_ result: VerificationResult<Transaction>) async throws -> Billing.Granted {
      guard case .verified(let transaction) = result else {
        throw KithFailure.invalid("The App Store has not signed this transaction.")
      }
      let granted = try await client.billing.verify(signedTransaction: result.jwsRepresentation)
      await transaction.finish()
      return granted
    }
  }
#endif
