import Foundation
import Testing

@testable import KithClient

/// The bodies of accounts, devices, credits and purchases, as the services write them.
@Suite struct AccountBodyTests {
  private static let time = #""2026-11-21T08:15:30.123Z""#

  private static let profile = """
    {"id": 4, "email": "", "name": null, "display_name": null, "role": "client", "timezone": "UTC",
     "has_password": false, "avatar_url": null, "locale": null, "uuid": "u"}
    """

  @Test func accounts() throws {
    try expectRoundTrip(
      Account.self, #"{"id": "u", "email": null, "display_name": null, "created_at": \#(Self.time)}"#)
    try expectRoundTrip(UserAnswer<Profile>.self, #"{"user": \#(Self.profile)}"#)
    try expectRoundTrip(PhoneUser.self, #"{"id": "u", "phone_number": "", "phone": null, "first_name": ""}"#)
    try expectRoundTrip(
      IdentitiesAnswer.self,
      """
      {"identities": [{"provider": "apple", "subject": "s", "email": null, "verified": true,
       "created_at": \(Self.time)}]}
      """)
    try expectRoundTrip(
      SessionsAnswer.self,
      """
      {"sessions": [{"id": "s", "current": true, "device": null, "created_at": \(Self.time),
       "last_seen_at": \(Self.time), "ended_at": null, "end_reason": null}]}
      """)
    try expectRoundTrip(SentCode.self, #"{"message": "Verification code sent", "expires_in": 300}"#)
  }

  @Test func tokensInEveryDialect() throws {
    let tokens = #""access_token": "a", "refresh_token": "r", "token_type": "bearer", "expires_in": 900"#
    try expectRoundTrip(TokenAnswer<Profile>.self, #"{\#(tokens), "token": "a"}"#)
    try expectRoundTrip(TokenAnswer<Profile>.self, #"{\#(tokens), "token": "a", "user": \#(Self.profile)}"#)
    try expectRoundTrip(
      TokenAnswer<Profile>.self, #"{\#(tokens), "token": "a", "message": "Signed in", "user": \#(Self.profile)}"#)
    try expectRoundTrip(
      TokenAnswer<PhoneUser>.self,
      #"{\#(tokens), "user": {"id": "u", "phone_number": "+1", "phone": "+1", "first_name": ""}}"#)
    try expectRoundTrip(
      TokenAnswer<[String: JSONValue]>.self, #"{\#(tokens), "expires_at": 1760476323, "user": {"id": "u"}}"#)
  }

  @Test func wholeNumbersHaveNoFraction() throws {
    #expect(
      String(decoding: try WireCoding.encode(SentCode(message: "m", expiresIn: 300)), as: UTF8.self)
        == #"{"expires_in":300,"message":"m"}"#)
  }

  @Test func anAnswerWithoutATokenIsNone() {
    #expect(throws: KithFailure.self) { try WireCoding.decode(TokenPair.self, from: Data("{}".utf8)) }
  }

  @Test func devices() throws {
    try expectRoundTrip(
      DevicesAnswer.self,
      #"{"devices": [{"id": "d", "device_token": "ab", "platform": "ios", "created_at": \#(Self.time)}]}"#)
    try expectRoundTrip(
      PreferenceAnswer.self,
      """
      {"notification_preference": {"push_enabled": true, "kinds": {"new_photos": false},
       "quiet_hours": {"enabled": false, "start": "22:00", "end": "07:00"}}}
      """)
  }

  @Test func credits() throws {
    try expectRoundTrip(
      CreditBalance.self,
      """
      {"balance": 45, "available": 40, "held": 5, "debt": 0, "lifetime_earned": 50, "lifetime_spent": 5}
      """)
    try expectRoundTrip(
      [CreditEntry].self,
      """
      [{"amount": -5, "balance_after": 45, "type": "spend", "description": null, "reference_id": null,
       "reference_type": null, "created_at": \(Self.time)}]
      """)
    try expectRoundTrip(CreditCostsAnswer.self, #"{"costs": {"generate_hd": 10}}"#)
  }

  @Test func purchases() throws {
    try expectRoundTrip(
      BillingProducts.self,
      """
      {"packs": [{"id": "p", "credits": 100, "price": 499, "currency": "eur"}], "subscriptions": [{"id": "s",
       "credits": 100, "price": 499, "currency": "eur", "tier": "plus", "level": 1, "period": "month"}]}
      """)
    try expectRoundTrip(
      BillingStatus.self,
      """
      {"subscription_tier": "free", "status": "none", "source": null, "current_period_end": null, "product_id": null,
       "will_renew": false}
      """)
    try expectRoundTrip(
      [BillingPurchase].self,
      """
      [{"id": "b", "source": "apple", "transaction_id": "2", "product_id": "p", "quantity": 1, "credits": 100,
       "credits_taken_back": 0, "amount": null, "currency": null, "status": "completed", "purchased_at": \(Self.time),
       "expires_at": null}]
      """)
    try expectRoundTrip(
      GrantedPurchase.self,
      #"{"transaction_id": "2", "product_id": "p", "credits_granted": 100, "balance": 150}"#)
    try expectRoundTrip(
      CheckoutAnswer.self, #"{"checkout_url": "https://checkout.stripe.com/c/pay/cs_1#fidkd%2FdWx"}"#)
    try expectRoundTrip(PortalAnswer.self, #"{"portal_url": "https://billing.stripe.com/p/session/1"}"#)
  }
}
