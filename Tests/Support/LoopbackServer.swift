import Foundation
import Hummingbird
import Web

/// A test's HTTP server on loopback, on a free port by default, which `listening` has once the server listens.
package func loopbackServer<Routes: HTTPResponderBuilder>(
  _ router: Routes, _ listening: ListeningPort, port: Int = 0
) -> some ApplicationProtocol where Routes.Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
  Application(
    router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
    onServerRunning: { listening.opened(on: $0.localAddress?.port ?? 0, $0) }, logger: quiet)
}

/// The fields of an `application/x-www-form-urlencoded` body, for tests of the services' encoder. Not
/// `URLEncodedForm.decode`, which leaves out fields without a value.
func formFields(_ body: String) -> [String: String] {
  var fields: [String: String] = [:]
  for pair in body.split(separator: "&") {
    let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
      $0.replacing("+", with: " ").removingPercentEncoding ?? ""
    }
    fields[parts[0]] = parts.count == 2 ? parts[1] : ""
  }
  return fields
}
