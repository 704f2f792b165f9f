import Wire

/// The members of an object in an event, in their order.
///
/// Not a dictionary, as nothing is looked up in it: to hash the names would take longer than to write them.
package struct EventFields: ExpressibleByDictionaryLiteral, Sendable {
  private var members: [(name: String, value: any EventValue)]

  package init(dictionaryLiteral members: (String, any EventValue)...) {
    self.members = members.map { (name: $0.0, value: $0.1) }
  }

  /// In the order of the names.
  package init(_ members: [String: JSONValue]) {
    self.members = members.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
  }

  /// - Parameter name: of which there is no member yet.
  mutating func add(_ name: String, _ value: (any EventValue)?) {
    if let value { members.append((name: name, value: value)) }
  }

  /// The members of both, which have different names.
  package static func + (fields: EventFields, more: EventFields) -> EventFields {
    var all = fields
    all.members += more.members
    return all
  }
}

extension EventFields: EventValue {
  package func write(to output: inout [UInt8]) throws {
    assert(Set(members.map(\.name)).count == members.count, "a name twice in \(members.map(\.name))")
    output.append(UInt8(ascii: "{"))
    for (index, member) in members.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      JSONTree.write(member.name, to: &output)
      output.append(UInt8(ascii: ":"))
      try member.value.write(to: &output)
    }
    output.append(UInt8(ascii: "}"))
  }
}
