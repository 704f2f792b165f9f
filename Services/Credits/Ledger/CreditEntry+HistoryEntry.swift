import ClientBodies

extension CreditEntry {
  init(_ entry: HistoryEntry) {
    self.init(
      amount: entry.amount, balanceAfter: entry.balanceAfter, type: entry.type, description: entry.description,
      referenceID: entry.referenceID, referenceType: entry.referenceType, createdAt: entry.createdAt)
  }
}
