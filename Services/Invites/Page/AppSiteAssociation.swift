import Foundation
import Hummingbird
import Web
import Wire

/// The apple-app-site-association document, by which iOS opens the app instead of the page for links to this service.
struct AppSiteAssociation: Sendable {
  private let body: Data

  /// - Throws: ``StartFailure`` for text that is not an app id.
  init(_ settings: Settings) throws {
    let apps = settings.list("APPLE_APP_IDS")
    guard apps.allSatisfy({ $0.wholeMatch(of: /[A-Z0-9]{10}\.[A-Za-z0-9.-]+/) != nil }) else {
      throw StartFailure("APPLE_APP_IDS must be ids with their team's, such as A1B2C3D4E5.com.example.app")
    }
    let paths = ["/invite/*", "/i/*"]
    let details = apps.isEmpty ? [] : [Details(appIDs: apps, components: paths.map { ["/": $0] })]
    body = try JSON.encode(["applinks": Links(details: details)])
  }

  func add(to routes: HTTPRoutes) {
    for path: RouterPath in ["/apple-app-site-association", "/.well-known/apple-app-site-association"] {
      routes.get(path) { [body] _, _ in
        Response(
          status: .ok, headers: [.contentType: "application/json", .cacheControl: "public, max-age=3600"],
          body: .init(byteBuffer: .init(data: body)))
      }
    }
  }

  private struct Links: Encodable {
    let details: [Details]
  }

  private struct Details: Encodable {
    let appIDs: [String]
    let components: [[String: String]]
  }
}
