import Foundation

/// A request as it came over one HTTP/2 stream.
struct APNsRequest: Sendable {
  var headers: [(name: String, value: String)] = []
  var body = Data()

  func all(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
  func first(_ name: String) -> String? { headers.first { $0.name == name }?.value }
  var path: String { first(":path") ?? "" }

  /// The device token in the path.
  var deviceToken: String { String(path.dropFirst("/3/device/".count)) }
}
