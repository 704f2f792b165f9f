import Foundation
import Testing

@testable import KithClient

/// The bodies of groups, photos, collections and files, as the service writes them.
@Suite struct GroupBodyTests {
  private static let time = #""2026-11-21T08:15:30.123Z""#

  @Test func groups() throws {
    let group = """
      {"id": "g", "name": "Us", "description": null, "time_zone": "UTC", "invite_code": "K7QM2X",
       "created_at": \(Self.time), "role": "owner", "member_count": 1, "members": [{"id": "u", "first_name": "",
       "role": "owner"}], "has_sent_today": false, "last_photo": 
      """
    try expectRoundTrip(SharedGroup.self, group + "null}")
    try expectRoundTrip(
      SharedGroup.self,
      group + """
        {"created_at": \(Self.time), "timestamp": \(Self.time), "sender_id": "u", "sender_name": "Kim"}}
        """)
    try expectRoundTrip(CreatedGroupAnswer.self, #"{"id": "g", "name": "Us"}"#)
    try expectRoundTrip(DailyStatusAnswer.self, #"{"has_sent_today": true}"#)
  }

  @Test(arguments: ["https://a.example/p?s=1&e=2", "/api/photos/p/file?signature=a%2Bb_-&e=2"])
  func photosHaveTheirLinksAsTheyAre(link: String) throws {
    let photo = """
      {"id": "p", "group_id": "g", "sender_id": "u", "sender_name": "Kim", "url": "\(link)",
       "thumbnail_url": "\(link)", "created_at": \(Self.time), "expires_at": \(Self.time)}
      """
    try expectRoundTrip(Photo.self, photo)
    try expectRoundTrip(PhotosAnswer.self, #"{"photos": [\#(photo)]}"#)
    try expectRoundTrip(SentPhoto.self, #"{"photo_id": "p", "expires_at": \#(Self.time)}"#)
  }

  @Test func collections() throws {
    let times = #""createdAt": \#(Self.time), "updatedAt": \#(Self.time)"#
    try expectRoundTrip(
      DataAnswer<[SharedCollection]>.self,
      #"{"data": [{"id": "col_1", "userId": "user_u", "name": "Art", \#(times)}], "count": 1}"#)
    try expectRoundTrip(
      DataAnswer<SharedCollection.Member>.self,
      """
      {"data": {"id": "m", "collectionId": "col_1", "userId": "user_u", "role": "VIEW_ONLY", "user": {"id": "user_u",
       "email": null, "name": null, "displayName": null, "profileStatus": "INCOMPLETE", "locale": "en"}, \(times)}}
      """)
  }

  @Test func files() throws {
    let folder = """
      {"name": "hunts", "id": null, "updated_at": null, "created_at": null, "last_accessed_at": null, "metadata": null}
      """
    let file = """
      {"name": "door.jpg", "id": "f", "updated_at": \(Self.time), "created_at": \(Self.time),
       "last_accessed_at": \(Self.time), "metadata": {"eTag": "\\"e\\"", "size": 9, "mimetype": "image/jpeg",
       "cacheControl": "max-age=3600", "lastModified": \(Self.time), "contentLength": 9, "httpStatusCode": 200}}
      """
    try expectRoundTrip([StoredFile].self, "[\(folder), \(file)]")
    try expectRoundTrip(
      StoredFileInfo.self,
      """
      {"id": "f", "name": "u/door.jpg", "bucket_id": "photos", "version": "v", "size": 9, "content_type": "image/jpeg",
       "cache_control": "max-age=3600", "etag": "e", "created_at": \(Self.time), "updated_at": \(Self.time),
       "last_modified": \(Self.time), "metadata": {}}
      """)
    try expectRoundTrip(SignedURLAnswer.self, #"{"signedURL": "/object/sign/photos/u/door.jpg?token=t"}"#)
    try expectRoundTrip(SignedPath.self, #"{"error": "not_found", "path": "u/x.jpg", "signedURL": null}"#)
  }
}
