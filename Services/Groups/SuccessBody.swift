/// The response body of endpoints that have nothing to return but the fact of success.
struct SuccessBody: Encodable {
  let success: Bool
}
