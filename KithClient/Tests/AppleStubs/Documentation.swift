import Foundation
import KithClient

// Compiled together with the code of the articles: what they take for granted of an app.

let url = URL(fileURLWithPath: "/")
let (password, group) = ("", "")
let (heic, photo) = (url, url)
let supportFolder = url
let isOnboarding = false
let kith = KithClient(baseURL: url, tokens: MemoryTokenStore())
let contact = Contact(id: "", givenName: "", familyName: "", phoneNumber: "")

@MainActor var progress = 0.0

func show(_ text: Any...) {}
func showNameEntry() {}
func showAlreadySent() {}
func showOffline() {}

let savedPosition = EventPosition()
func reload() async throws {}
func apply(_ event: LiveEvent) {}
func save(_ position: EventPosition) {}

enum Scope { case fullName, email }
struct AppleRequest {
  var requestedScopes: [Scope]?
  var nonce: String?
}
struct AppleCredential {
  var identityToken: Data?
  var authorizationCode: Data?
  var fullName: PersonNameComponents?
}
@MainActor var request = AppleRequest()
let credential = AppleCredential()
