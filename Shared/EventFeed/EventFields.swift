import Wire

/// The members of an object in an event, in their order, as JSON: they are written as soon as they are given, as to
/// keep and copy values of any type would take longer.
package struct EventFields: ExpressibleByDictionaryLiteral, Sendable {
  /// With commas between them.
  private var text: [UInt8] = []
  private var failure: (any Error)?
  #if DEBUG
    private var names: Set<String> = []
  #endif

  private static let usualBytes = 32

  package init(dictionaryLiteral members: (String, any EventValue)...) {
    text.reserveCapacity(Self.usualBytes * members.count)
    for index in members.indices { add(members[index].0, members[index].1) }
  }

  /// In the order of the names.
  package init(_ members: [String: JSONValue]) {
    for (name, value) in members.sorted(by: { $0.key < $1.key }) { add(name, value) }
  }

  /// - Parameter name: of which there is no member yet.
  private mutating func add(_ name: String, _ value: any EventValue) {
    #if DEBUG
      precondition(names.insert(name).inserted, "\(name) is twice")
    #endif
    if !text.isEmpty { text.append(UInt8(ascii: ",")) }
    JSONTree.write(name, to: &text)
    text.append(UInt8(ascii: ":"))
    do { try value.write(to: &text) } catch { failure = error }
  }

  /// The members of both, which have different names.
  package static func + (fields: EventFields, more: EventFields) -> EventFields {
    var all = fields
    #if DEBUG
      precondition(all.names.isDisjoint(with: more.names), "twice among \(all.names) and \(more.names)")
      all.names.formUnion(more.names)
    #endif
    if !all.text.isEmpty, !more.text.isEmpty { all.text.append(UInt8(ascii: ",")) }
    all.text += more.text
    all.failure = fields.failure ?? more.failure
    return all
  }
}

extension EventFields: EventValue {
  package func write(to output: inout [UInt8]) throws {
    if let failure { throw failure }
    output.append(UInt8(ascii: "{"))
    output += text
    output.append(UInt8(ascii: "}"))
  }
}
