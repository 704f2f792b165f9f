/// What the answers of collections and their share links are in.
package struct DataAnswer<Value: Sendable>: Sendable {
  package let data: Value
  /// Of all pages, where there are pages.
  package let count: Int?

  package init(data: Value, count: Int? = nil) {
    self.data = data
    self.count = count
  }
}

extension DataAnswer: Encodable where Value: Encodable {}
extension DataAnswer: Decodable where Value: Decodable {}
