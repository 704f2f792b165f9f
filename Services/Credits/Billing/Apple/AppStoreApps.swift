/// The apps whose purchases this server accepts, and the environments of the App Store.
struct AppStoreApps: Sendable {
  let bundleIDs: Set<String>
  /// The apps' ids in the App Store; empty when they are not checked.
  let appIDs: Set<Int>
  let environments: Set<AppStoreEnvironment>

  /// - Throws: ``NotOurPurchase`` for another app, or for an environment that is not configured.
  @discardableResult
  func require(bundleID: String?, environment: String?) throws(NotOurPurchase) -> AppStoreEnvironment {
    guard let bundleID, bundleIDs.contains(bundleID) else { throw NotOurPurchase(reason: "another bundle id") }
    guard let environment = environment.flatMap(AppStoreEnvironment.init), environments.contains(environment) else {
      throw NotOurPurchase(reason: "an environment that APPLE_STORE_ENVIRONMENTS does not have")
    }
    return environment
  }

  /// Notifications of the production environment have the app's id.
  func require(_ subject: AppStoreNotification.Subject) throws(NotOurPurchase) {
    let environment = try require(bundleID: subject.bundleID, environment: subject.environment)
    guard environment == .production, !appIDs.isEmpty else { return }
    guard let id = subject.appID, appIDs.contains(id) else {
      throw NotOurPurchase(reason: "an app that APPLE_APP_STORE_ID does not have")
    }
  }
}

/// The App Store has signed it, but not for one of our apps or environments.
struct NotOurPurchase: Error, CustomStringConvertible {
  let reason: String

  var description: String { "the App Store has signed this for \(reason)" }
}
