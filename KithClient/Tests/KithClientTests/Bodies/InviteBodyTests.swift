import Foundation
import Testing

@testable import KithClient

/// The bodies of invitations, as the service writes them.
@Suite struct InviteBodyTests {
  private static let time = #""2026-11-21T08:15:30.123Z""#

  @Test func shareLinks() throws {
    let collection = #"{"id": "col_1", "name": "Art"}"#
    let person = #"{"id": "user_u", "email": null, "name": "Kim"}"#
    try expectRoundTrip(
      DataAnswer<CreatedShareLink>.self,
      """
      {"data": {"id": "inv_1", "token": "inv_t", "role": "VIEW_ONLY", "status": "PENDING", "expiresAt": \(Self.time),
       "deepLink": "kith://invite/inv_t", "appStoreFallbackUrl": "https://apps.apple.com/app/id1",
       "collection": \(collection), "inviter": \(person)}}
      """)
    let shown = """
      "id": "inv_1", "collection": \(collection), "role": "VIEW_ONLY", "status": "REVOKED", "expiresAt": \(Self.time)
      """
    try expectRoundTrip(DataAnswer<ShareLink>.self, #"{"data": {\#(shown), "inviter": null, "invitee": null}}"#)
    try expectRoundTrip(
      DataAnswer<[ShareLink]>.self,
      #"{"data": [{\#(shown), "inviter": \#(person), "invitee": \#(person), "createdAt": \#(Self.time)}], "count": 1}"#)
    try expectRoundTrip(
      DataAnswer<ShareLinkAnswer>.self,
      #"{"data": {"collectionId": "col_1", "role": "VIEW_ONLY", "status": "ACCEPTED"}}"#)
    try expectRoundTrip(
      DataAnswer<ShareLinkAnswer>.self, #"{"data": {"collectionId": "col_1", "status": "REJECTED"}}"#)
  }

  @Test func aLinkOfSomebodyWhoHasLeftIsRead() throws {
    let link = try WireCoding.decode(
      ShareLink.self,
      from: Data(
        """
        {"id": "inv_1", "collection": {"id": "col_1", "name": "Art"}, "inviter": null, "invitee": null,
         "role": "VIEW_ONLY", "status": "REVOKED", "expiresAt": \(Self.time)}
        """.utf8))
    #expect(link.inviter.id.isEmpty && link.inviter.name == nil)
    #expect(link.collection == .init(id: "col_1", email: nil, name: "Art"))
  }

  @Test func texts() throws {
    let user = #"{"phone_number": "+1", "user_id": "u", "first_name": "Kim"}"#
    try expectRoundTrip(
      ContactCheck.self, #"{"existing": [\#(user)], "existing_users": [\#(user)], "needs_invite": ["+2"]}"#)
    try expectRoundTrip(
      SentInvites.self,
      #"{"sent_invites": [{"phone_number": "+1", "invite_code": "K7QM2X"}], "added_members": 1}"#)
    try expectRoundTrip(
      InvitesAnswer<PendingInvite>.self,
      """
      {"invites": [{"id": "i", "group_id": "g", "phone_number": "+1", "code": null, "invited_by": "u",
       "created_at": \(Self.time), "expires_at": \(Self.time), "used_at": null, "profiles": {"first_name": "Kim"}}]}
      """)
    try expectRoundTrip(JoinedGroup.self, #"{"group_id": "g", "group_name": "Us"}"#)
  }

  @Test func links() throws {
    let link = """
      "code": "K7QM2X", "invite_url": "https://kith.example/i/K7QM2X", "deep_link": "kith://i/K7QM2X",
       "expires_at": \(Self.time), "uses_count": 0, "usable": true, "created_at": \(Self.time)
      """
    try expectRoundTrip(
      InvitesAnswer<CodeLink<String>>.self, #"{"invites": [{"id": "i", "role": null, "max_uses": null, \#(link)}]}"#)
    try expectRoundTrip(
      InviteAnswer<CodeLink<Int>>.self, #"{"invite": {"id": 1, "role": "viewer", "max_uses": 5, \#(link)}}"#)
    let list = #""list": {"id": 1, "name": "Us", "color": "blue", "visibility": "private"}, "inviter": {"name": ""}"#
    try expectRoundTrip(
      InvitesAnswer<ListInvitePreview>.self,
      #"{"invites": [{"id": 1, "role": "viewer", "max_uses": 1, \#(list), \#(link)}]}"#)
    try expectRoundTrip(
      InviteAnswer<ListInvitePreview>.self,
      """
      {"invite": {"code": "K7QM2X", "role": "viewer", \(list), "usable": false, "expired": true, "exhausted": false}}
      """)
    try expectRoundTrip(
      JoinedListAnswer.self,
      """
      {"message": "Invite accepted", "list": {"id": 1, "name": "Us", "color": "blue", "visibility": "private",
       "role": "viewer"}, "membership": {"id": 9, "role": "viewer", "user": {"id": 4, "email": null, "name": null}}}
      """)
  }
}
