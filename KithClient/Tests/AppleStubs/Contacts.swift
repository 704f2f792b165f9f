import Foundation

public let CNContactIdentifierKey = ""
public let CNContactGivenNameKey = ""
public let CNContactFamilyNameKey = ""
public let CNContactPhoneNumbersKey = ""

public protocol CNKeyDescriptor {}
extension String: CNKeyDescriptor {}

public enum CNEntityType: Int { case contacts }

public class CNPhoneNumber {
  public var stringValue: String { fatalError() }
}

public class CNLabeledValue<Value: AnyObject> {
  public var value: Value { fatalError() }
}

public class CNContact {
  public var identifier: String { fatalError() }
  public var givenName: String { fatalError() }
  public var familyName: String { fatalError() }
  public var phoneNumbers: [CNLabeledValue<CNPhoneNumber>] { fatalError() }
}

public class CNContactFetchRequest {
  public init(keysToFetch: [any CNKeyDescriptor]) {}
}

public class CNContactStore {
  public init() {}
  public func requestAccess(for entityType: CNEntityType) async throws -> Bool { fatalError() }
  public func enumerateContacts(
    with fetchRequest: CNContactFetchRequest,
    usingBlock block: @escaping (CNContact, UnsafeMutablePointer<Bool>) -> Void
  ) throws {}
}
