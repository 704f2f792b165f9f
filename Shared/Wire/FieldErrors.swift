/// Reads values that each have a rule of their own, and names all that break theirs at once.
package enum FieldErrors {
  /// The values that `read` gives.
  ///
  /// - Throws: one validation failure with the fields of all that are wrong, in their order; any other error at once.
  package static func collected<each Value>(_ read: repeat () throws -> each Value) throws -> (repeat each Value) {
    var wrong: [Failure.Field] = []
    func attempt<One>(_ read: () throws -> One) throws -> One? {
      do { return try read() } catch let failure as Failure where failure.kind == .invalid {
        wrong += failure.fields
        return nil
      }
    }
    func found<One>(_ value: One?) throws -> One {
      guard let value else { throw Failure.invalid(wrong) }
      return value
    }
    let values = (repeat try attempt(each read))
    return (repeat try found(each values))
  }
}
