/// Validates several decoded values and reports all that violate a rule at once. Fields of a wrong type are reported
/// before, by the decoding of the body.
package enum FieldErrors {
  /// The results of all `read` closures.
  ///
  /// - Throws: one validation failure with the invalid fields of all closures, in their order; any other error at once.
  package static func collected<each Value>(_ read: repeat () throws -> each Value) throws -> (repeat each Value) {
    var invalidFields: [Failure.Field] = []
    func attempt<One>(_ read: () throws -> One) throws -> One? {
      do { return try read() } catch let failure as Failure where failure.kind == .invalid {
        invalidFields += failure.fields
        return nil
      }
    }
    func unwrapped<One>(_ value: One?) throws -> One {
      guard let value else { throw Failure.invalid(invalidFields) }
      return value
    }
    let values = (repeat try attempt(each read))
    return (repeat try unwrapped(each values))
  }
}
