/// Where purchases are paid. The raw value is stored, is the caller of the purchases' operations in the ledger, and
/// labels metrics.
enum PurchaseProvider: String, Sendable, Hashable, CaseIterable, Codable {
  case apple, stripe
}
