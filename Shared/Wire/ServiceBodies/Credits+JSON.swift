/// The bodies of a spend, the most frequent call between services that changes something.
extension SpendCredits: JSONTreeReadable {
  package init(_ tree: JSONTree) throws {
    self.init(
      userID: try tree.member("user_id") { try $0.id() }, cost: try tree.member("cost") { try $0.intValue() },
      transactionType: try tree.memberIfPresent("transaction_type") { try $0.stringValue() },
      description: try tree.memberIfPresent("description") { try $0.stringValue() },
      referenceID: try tree.memberIfPresent("reference_id") { try $0.stringValue() },
      referenceType: try tree.memberIfPresent("reference_type") { try $0.stringValue() },
      idempotencyKey: try tree.memberIfPresent("idempotency_key") { try $0.stringValue() })
    createsDebt = try tree.memberIfPresent("creates_debt") { try $0.boolValue() }
  }
}

extension CreditTransactionResult: JSONObjectWritable {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("balance_after", balanceAfter)
    json.memberOrNull("error", error)
    json.member("success", success)
    json.memberOrNull("transaction_id", transactionID?.description)
  }
}
