/// All data of the credits service about one user.
struct PersonalDataExport: Encodable, Sendable {
  let credit_history: [HistoryBody]
  let billing: BillingPersonalData.Export
}
