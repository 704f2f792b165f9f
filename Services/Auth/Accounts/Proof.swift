import Database
import Web
import Wire

/// What an account has shown of who its user is.
enum Proof: Int, Sendable {
  /// Nothing at all: somebody anonymous.
  case none
  /// An address that nobody has confirmed.
  case claimed
  /// An address or a number is confirmed, or somebody else vouches for the user: Apple, an outside issuer, an outside
  /// system, a developer.
  case proven

  /// The proof of the account whose id is in `account`, as a column of a query on it.
  static func column(of account: SQL) -> SQL {
    """
    coalesce((select max(case when i.issuer <> 'email' or i.is_email_verified then 2 else 1 end)
      from identity i where i.account_id = \(account)), 0) as proof
    """
  }

  init(_ row: Row) throws { self = Proof(rawValue: try row.get("proof")) ?? .none }
}

/// From which proof on somebody is somebody.
struct ProofRule: Sendable {
  /// Where no mail can be sent, no address can be confirmed: one that is claimed has to do.
  let countsClaims: Bool

  init(countsClaims: Bool) { self.countsClaims = countsClaims }

  init(_ settings: Settings) { countsClaims = settings.nonempty("SMTP_URL") == nil }

  func isProven(_ proof: Proof) -> Bool { proof == .proven || countsClaims && proof == .claimed }
}
