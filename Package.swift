// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "kith",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "kith", targets: ["kith"]),
    .executable(name: "kith-gateway", targets: ["kith-gateway"]),
    .executable(name: "kith-auth", targets: ["kith-auth"]),
    .executable(name: "kith-credits", targets: ["kith-credits"]),
    .executable(name: "kith-invites", targets: ["kith-invites"]),
    .executable(name: "kith-groups", targets: ["kith-groups"]),
    .executable(name: "kith-lists", targets: ["kith-lists"]),
  ],
  dependencies: [
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    // Words and machinery that every process shares.
    .shared("Wire"),
    .shared("Measures"),
    .shared("Database", ["Wire", .grdb, .crypto, .logging]),
    .system("CPostgres", pkgConfig: "libpq", apt: "libpq-dev", brew: "libpq"),
    .shared("Postgres", ["Wire", "Database", "CPostgres", .collections, .logging]),
    .shared("Tokens", ["Wire", .crypto, .cryptoExtras]),
    .shared(
      "Web",
      [
        "Wire", "Measures", "Database", "Postgres", "Tokens", "Traces", .crypto, .hummingbird, .nio, .nioPosix,
        .lifecycle, .signals, .configuration,
        .nioFoundation, .logging, .yams,
      ]),
    .shared("Traces", ["Wire", "Measures", .httpClient, .nio, .nioFoundation, .logging]),
    .shared("Outbox", ["Wire", "Measures", "Database", "Tokens", "Web", .lifecycle, .logging]),
    .shared("Quotas", ["Wire", "Database", "Tokens", "Web"]),
    .shared(
      "Messages", ["Wire", "Web", "Clients", "Tokens", .httpClient, .nio, .nioFoundation, .logging]),
    .system("CArgon2", pkgConfig: "libargon2", apt: "libargon2-dev", brew: "argon2"),
    .system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
    .system("CVips", pkgConfig: "vips", apt: "libvips-dev", brew: "vips"),
    .shared(
      "Clients",
      ["Wire", "Web", "Tokens", "Traces", .httpClient, .nio, .nioPosix, .nioFoundation, .lifecycle, .logging]),

    // One process each; a service never imports a service.
    .service(
      "Auth",
      [
        "Wire", "Measures", "Database", "Tokens", "Web", "Clients", "Outbox", "Messages", "Quotas", "CArgon2", "CCurl",
        .hummingbird, .httpClient, .nio, .nioFoundation, .crypto, .cryptoExtras, .lifecycle, .logging,
      ]),
    .service(
      "Invites",
      [
        "Wire", "Measures", "Database", "Tokens", "Web", "Clients", "Outbox", "Messages", "Quotas", .hummingbird, .nio,
        .crypto, .lifecycle, .logging,
      ]),
    .service(
      "Groups",
      [
        "Wire", "Measures", "Database", "Tokens", "Web", "Clients", "Outbox", "Quotas", "CVips", .hummingbird,
        .httpClient, .nio,
        .nioPosix, .nioFoundation, .crypto, .lifecycle, .logging, .collections,
      ]),
    .service(
      "Lists",
      [
        "Wire", "Measures", "Database", "Tokens", "Web", "Clients", .hummingbird, .nio, .nioFoundation, .crypto,
        .lifecycle, .logging,
      ]),
    .service("Credits", ["Wire", "Database", "Web", "Clients", .hummingbird]),
    .target(name: "StrictHTTP", path: "gateway/StrictHTTP", swiftSettings: strict),
    .gateway([
      "StrictHTTP", "Wire", "Measures", "Tokens", "Traces", "Web", "Clients", .nio, .nioPosix, .nioTLS, .nioSSL,
      .nioFoundation,
      .httpClient,
      .lifecycle, .signals, .logging, .collections,
    ]),
    .executable("kith-auth", ["Auth", "Web"], path: "Services/Auth/Main"),
    .executable("kith-credits", ["Credits", "Web"], path: "Services/Credits/Main"),
    .executable("kith-invites", ["Invites", "Web"], path: "Services/Invites/Main"),
    .executable("kith-groups", ["Groups", "Web"], path: "Services/Groups/Main"),
    .executable("kith-lists", ["Lists", "Web"], path: "Services/Lists/Main"),
    .executable("kith-gateway", ["Gateway", "Web"], path: "gateway/Main"),
    .executable(
      "kith", ["Auth", "Invites", "Groups", "Lists", "Credits", "Gateway", "Web", "Wire", "Tokens", .lifecycle],
      path: "Services/Kith"),

    .target(
      name: "Support",
      dependencies: [
        "Auth", "Invites", "Groups", "Lists", "Credits", "Gateway", "Web", "Wire", "Clients", "Database", "Postgres",
        "CPostgres", "Outbox", "Messages", "Measures", "Tokens", .cryptoExtras, .hummingbird, .httpClient, .lifecycle,
        .logging,
        .nio, .nioPosix, .nioSSL, .nioHTTP1, .nioFoundation,
      ],
      path: "Tests/Support", swiftSettings: strict),
    .target(
      name: "Fuzz", dependencies: ["StrictHTTP"], path: "Tests/Fuzz", exclude: ["Target.swift"], swiftSettings: strict),
    .tests("Wire", ["Wire"]),
    .tests("Measures", ["Measures", "Database", "Support", "Web", "Wire"]),
    .tests("StrictHTTP", ["StrictHTTP", "Fuzz"]),
    .tests("Database", ["Database", "Postgres", "Support"]),
    .tests("Tokens", ["Tokens", .crypto, .cryptoExtras]),
    .tests(
      "Web",
      [
        "Web", "Wire", "Clients", "Credits", "Database", "Gateway", "Support", "Tokens", .hummingbird, .lifecycle,
        .nioPosix,
      ]),
    .tests(
      "Gateway",
      [
        "Gateway", "StrictHTTP", "Clients", "Credits", "Tokens", "Web", "Wire", "Support", .crypto, .hummingbird,
        .httpClient, .logging, .nio, .nioPosix, .nioHTTP1, .nioSSL,
      ]),
    .tests(
      "Traces", ["Traces", "Measures", "Web", "Wire", "Clients", "Gateway", "Support", .hummingbird, .nio, .logging]),
    .tests("Outbox", ["Outbox", "Measures", "Database", "Tokens", "Web", "Wire", "Clients", "Support", .hummingbird]),
    .tests("Messages", ["Messages", "Web", "Wire", "Clients", "Support", .hummingbird]),
    .tests(
      "Auth",
      [
        "Auth", "Clients", "Database", "Outbox", "Messages", "Support", "Tokens", "Web", "Wire", .crypto, .cryptoExtras,
        .hummingbird, .nio, .nioPosix, .nioSSL,
      ]),
    .tests(
      "Invites",
      [
        "Invites", "Clients", "Database", "Messages", "Outbox", "Support", "Tokens", "Web", "Wire", .crypto,
        .hummingbird,
      ]),
    .tests(
      "Groups",
      [
        "Groups", "Clients", "Database", "Outbox", "Support", "Tokens", "Web", "Wire", "kith", .crypto, .hummingbird,
        .lifecycle, .nio,
      ]),
    .tests(
      "Lists",
      ["Lists", "Clients", "Database", "Support", "Tokens", "Web", "Wire", "kith", .hummingbird, .nio, .nioPosix]),
    .tests("Credits", ["Credits", "Clients", "Database", "Support", "Tokens", "Web"]),
    .tests(
      "Stories",
      [
        "Auth", "Credits", "Gateway", "Support", "Clients", "Database", "Tokens", "Web", "Wire", .crypto,
        .hummingbird, "kith", "kith-auth", "kith-invites", "kith-groups", "kith-lists", "kith-credits", "kith-gateway",
      ]),
  ]
)

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]

extension Target {
  static func shared(_ name: String, _ needs: [Dependency] = []) -> Target {
    .target(name: name, dependencies: needs, path: "Shared/\(name)", swiftSettings: strict)
  }

  static func system(_ name: String, pkgConfig: String, apt: String, brew: String) -> Target {
    .systemLibrary(
      name: name, path: "Shared/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
  }

  static func service(_ name: String, _ needs: [Dependency]) -> Target {
    .target(
      name: name, dependencies: needs, path: "Services/\(name)", exclude: ["Main"],
      resources: [.embedInCode("openapi.yaml")], swiftSettings: strict)
  }

  static func gateway(_ needs: [Dependency]) -> Target {
    .target(
      name: "Gateway", dependencies: needs, path: "gateway", exclude: ["Main", "StrictHTTP"],
      resources: [.embedInCode("openapi.yaml")]
        + ["docs.html", "redoc.html", "pages.css", "pages.js"].map { .embedInCode("Pages/\($0)") },
      swiftSettings: strict)
  }

  static func executable(_ name: String, _ needs: [Dependency], path: String) -> Target {
    .executableTarget(name: name, dependencies: needs, path: path, swiftSettings: strict)
  }

  static func tests(_ name: String, _ needs: [Dependency]) -> Target {
    .testTarget(name: "\(name)Tests", dependencies: needs, path: "Tests/\(name)", swiftSettings: strict)
  }
}

extension Target.Dependency {
  static let hummingbird = product(name: "Hummingbird", package: "hummingbird")
  static let nio = product(name: "NIOCore", package: "swift-nio")
  static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
  static let nioFoundation = product(name: "NIOFoundationCompat", package: "swift-nio")
  static let nioTLS = product(name: "NIOTLS", package: "swift-nio")
  static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")
  static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
  static let httpClient = product(name: "AsyncHTTPClient", package: "async-http-client")
  static let crypto = product(name: "Crypto", package: "swift-crypto")
  static let cryptoExtras = product(name: "CryptoExtras", package: "swift-crypto")
  static let lifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
  static let signals = product(name: "UnixSignals", package: "swift-service-lifecycle")
  static let configuration = product(name: "Configuration", package: "swift-configuration")
  static let logging = product(name: "Logging", package: "swift-log")
  static let grdb = product(name: "GRDB", package: "GRDB.swift")
  static let collections = product(name: "DequeModule", package: "swift-collections")
  static let yams = product(name: "Yams", package: "Yams")

  static func product(name: String, package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: nil)
  }
}
