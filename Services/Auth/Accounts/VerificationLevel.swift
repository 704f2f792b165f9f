import Database
import Web
import Wire

/// How far the identity of a user has been verified.
enum VerificationLevel: Int, Sendable {
  /// An anonymous account.
  case none
  /// The account has an e-mail address that is not confirmed.
  case claimed
  /// An e-mail address or a phone number is confirmed, or the user comes from Apple, an external issuer, an external
  /// system or `dev/token`.
  case verified

  /// The level of the account whose id is in `account`, as a column of a query.
  static func column(of account: SQL) -> SQL {
    """
    coalesce((select max(case when i.issuer <> 'email' or i.is_email_verified then 2 else 1 end)
      from identity i where i.account_id = \(account)), 0) as proof
    """
  }

  init(_ row: Row) throws { self = VerificationLevel(rawValue: try row.get("proof")) ?? .none }
}

/// The verification level from which a user counts as proven.
struct VerificationPolicy: Sendable {
  /// Whether an unconfirmed address is enough: without `SMTP_URL` no mail can be sent, so no address can be confirmed.
  let acceptsClaimedEmail: Bool

  init(acceptsClaimedEmail: Bool) { self.acceptsClaimedEmail = acceptsClaimedEmail }

  init(_ settings: Settings) { acceptsClaimedEmail = settings.nonempty("SMTP_URL") == nil }

  func isProven(_ level: VerificationLevel) -> Bool { level == .verified || acceptsClaimedEmail && level == .claimed }
}
