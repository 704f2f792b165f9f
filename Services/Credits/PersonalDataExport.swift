import ClientBodies
import Foundation
import Wire

/// All data of the credits service about one user.
struct PersonalDataExport: Encodable, Sendable {
  let credit_history: [CreditEntry]
  let billing: BillingPersonalData.Export
  let credit_lots: [Lot]
  let credit_holds: [Hold]

  /// What is left of a grant.
  struct Lot: Encodable, Sendable {
    let amount: Int
    let remaining: Int
    @NullCodable var expires_at: Date?
    let granted_at: Date
  }

  struct Hold: Encodable, Sendable {
    let id: HoldID
    let cost: Int
    let captured: Int
    let status: String
    @NullCodable var description: String?
    @NullCodable var reference_id: String?
    @NullCodable var reference_type: String?
    let created_at: Date
    let expires_at: Date
    @NullCodable var settled_at: Date?
  }
}
