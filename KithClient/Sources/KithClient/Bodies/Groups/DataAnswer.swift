/// What the answers of collections, their share links and users with prefixed ids are in.
package struct DataAnswer<Value: Sendable>: Sendable {
  package let data: Value
  /// Of a list: all there are, not those of the page.
  package let count: Int?

  package init(data: Value, count: Int? = nil) {
    self.data = data
    self.count = count
  }
}

extension DataAnswer: Encodable where Value: Encodable {}
extension DataAnswer: Decodable where Value: Decodable {}
