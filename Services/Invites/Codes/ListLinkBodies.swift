/// A request for a link; the options are under `invite`.
struct CreateListLinkBody: Decodable {
  let invite: LinkOptions.Body?
}

struct DeclinedListInviteBody: Encodable {
  let message = "Invite declined"
}
