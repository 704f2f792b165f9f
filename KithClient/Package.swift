// swift-tools-version: 6.0
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]

/// What an app adds. It has no dependencies: an app that uses it neither fetches nor builds the packages of the server.
let package = Package(
  name: "KithClient",
  platforms: [.iOS(.v16), .macOS(.v13)],
  products: [.library(name: "KithClient", targets: ["KithClient"])],
  targets: [
    .target(name: "KithClient", swiftSettings: strict),
    .executableTarget(
      name: "KithTour", dependencies: ["KithClient"], path: "Examples/KithTour", swiftSettings: strict),
    .testTarget(name: "KithClientTests", dependencies: ["KithClient"], swiftSettings: strict),
  ]
)
