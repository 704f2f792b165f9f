import Wire

/// Validates amounts in requests.
enum CreditAmount {
  /// - Throws: the validation failure that names `field`, unless it is from 1 to ``CreditOperation/amountMax``.
  static func required(_ amount: Int, field: String) throws(Failure) -> Int {
    guard (1...CreditOperation.amountMax).contains(amount) else {
      throw .invalid(.init(field, "must be from 1 to \(CreditOperation.amountMax)"))
    }
    return amount
  }
}

/// Validates free text for the ledger, which stores it permanently.
enum LedgerText {
  /// The text, nil when it is empty.
  ///
  /// - Throws: the validation failure that names `field`, over 500 characters.
  static func optional(_ text: String?, field: String) throws(Failure) -> String? {
    guard let text, !text.isEmpty else { return nil }
    guard text.unicodeScalars.count <= 500 else { throw .invalid(.init(field, "must have at most 500 characters")) }
    return text
  }
}
