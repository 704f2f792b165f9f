import ClientBodies
import Wire

extension ClientBodies.Account: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) {
    json.member("created_at", createdAt)
    json.memberOrNull("display_name", displayName)
    json.memberOrNull("email", email)
    json.member("id", id)
  }
}
