/// The answer to what only has to have been done.
struct SuccessBody: Encodable {
  let success: Bool
}
