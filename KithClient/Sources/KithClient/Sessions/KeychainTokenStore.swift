#if canImport(Security)
  import Foundation
  import Security

  /// Keeps the session in the Keychain: a generic password, readable after the first unlock, on this device only.
  public struct KeychainTokenStore: TokenStore {
    /// An error of the Keychain. Before the first unlock it is `errSecInteractionNotAllowed`.
    public struct Failure: Error, Sendable, Equatable {
      public let status: OSStatus
    }

    private let service: String
    private let account: String
    private let accessGroup: String?

    /// - Parameters:
    ///   - service: the app's own name; two servers need two names.
    ///   - accessGroup: shares the session with the app's extensions.
    public init(service: String, account: String = "session", accessGroup: String? = nil) {
      self.service = service
      self.account = account
      self.accessGroup = accessGroup
    }

    /// - Throws: ``Failure``, for example before the first unlock.
    public func read() throws -> StoredSession? {
      var query = item
      query[kSecReturnData as String] = true
      query[kSecMatchLimit as String] = kSecMatchLimitOne
      var found: CFTypeRef?
      let status = SecItemCopyMatching(query as CFDictionary, &found)
      if status == errSecItemNotFound { return nil }
      guard status == errSecSuccess, let data = found as? Data else { throw Failure(status: status) }
      // `try?`: what another version has written is no session of this one.
      return try? JSONDecoder().decode(StoredSession.self, from: data)
    }

    /// - Throws: ``Failure``.
    public func write(_ session: StoredSession) throws {
      let data = try JSONEncoder().encode(session)
      let attributes: [String: Any] = [
        kSecValueData as String: data,
        kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
      var status = SecItemUpdate(item as CFDictionary, attributes as CFDictionary)
      if status == errSecItemNotFound {
        status = SecItemAdd(item.merging(attributes) { $1 } as CFDictionary, nil)
      }
      guard status == errSecSuccess else { throw Failure(status: status) }
    }

    /// Safe to repeat.
    ///
    /// - Throws: ``Failure``.
    public func delete() throws {
      let status = SecItemDelete(item as CFDictionary)
      guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure(status: status) }
    }

    private var item: [String: Any] {
      var item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: service,
        kSecAttrAccount as String: account,
        kSecUseDataProtectionKeychain as String: true,
      ]
      item[kSecAttrAccessGroup as String] = accessGroup
      return item
    }
  }
#endif
