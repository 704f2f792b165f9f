import Wire

extension JSONTree {
  /// What a JSON path without its last `->>` leads to.
  func value(at path: [JSONStep]) -> JSONTree? {
    var tree = self
    for step in path {
      switch (step.part, tree) {
      case (.key(let name), .object):
        guard let value = tree[name] else { return nil }
        tree = value
      case (.index(let index), .array(let elements)):
        let position = index < 0 ? elements.count + index : index
        guard elements.indices.contains(position) else { return nil }
        tree = elements[position]
      default: return nil
      }
    }
    return tree
  }

  /// Without the members of objects that are null; elements of arrays stay.
  var withoutNulls: JSONTree {
    switch self {
    case .array(let elements): .array(elements.map(\.withoutNulls))
    case .object(let members):
      .object(members.filter { $0.value != .null }.map { Member(name: $0.name, value: $0.value.withoutNulls) })
    default: self
    }
  }

  /// What `->>` gives: the text of a string, JSON for other values, nil for null.
  var plainText: String? {
    switch self {
    case .null: nil
    case .string(let text): text
    default: text
    }
  }
}
