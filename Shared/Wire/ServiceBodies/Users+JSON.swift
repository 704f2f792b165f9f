/// The bodies by which services ask who somebody is, which an index of lists with many members does for hundreds of people
/// at once.
extension PeopleQuery: JSONObjectWritable, JSONTreeReadable {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("ids", texts: ids.map(\.description))
    json.member("phones", texts: phones)
  }

  package init(_ tree: JSONTree) throws {
    self.init(
      ids: try tree.member("ids") { try $0.list { try $0.id() } },
      phones: try tree.memberIfPresent("phones") { try $0.list { try $0.stringValue() } })
  }
}

extension People: JSONObjectWritable, JSONTreeReadable {
  package func writeMembers(to json: inout JSONWriter) throws { try json.member("people", people) }

  package init(_ tree: JSONTree) throws {
    self.init(people: try tree.member("people") { try $0.list { try Person($0) } })
  }
}

extension Person: JSONObjectWritable, JSONTreeReadable {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("email", email)
    json.member("id", id.description)
    json.member("is_proven", isProven)
    json.member("locale", locale)
    json.member("name", name)
    json.member("number", number)
    json.member("phone", phone)
    json.member("time_zone", timeZone)
  }

  package init(_ tree: JSONTree) throws {
    self.init(
      id: try tree.member("id") { try $0.id() }, number: try tree.member("number") { try $0.intValue() },
      name: try tree.memberIfPresent("name") { try $0.stringValue() },
      email: try tree.memberIfPresent("email") { try $0.stringValue() },
      phone: try tree.memberIfPresent("phone") { try $0.stringValue() },
      locale: try tree.memberIfPresent("locale") { try $0.stringValue() },
      timeZone: try tree.memberIfPresent("time_zone") { try $0.stringValue() },
      // An older auth does not send it.
      isProven: try tree.memberIfPresent("is_proven") { try $0.boolValue() } ?? false)
  }
}
