import ClientBodies
import Wire

extension CreditBalance: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) {
    json.member("available", available)
    json.member("balance", balance)
    json.member("debt", debt)
    json.member("held", held)
    json.member("lifetime_earned", lifetimeEarned)
    json.member("lifetime_spent", lifetimeSpent)
  }
}
