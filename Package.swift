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
    .executable(name: "kith-events", targets: ["kith-events"]),
    .executable(name: "kith-adventures", targets: ["kith-adventures"]),
    .executable(name: "kith-timepoints", targets: ["kith-timepoints"]),
  ],
  dependencies: [
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    // What apps use, a package of its own; here only for its tests against the whole server.
    .package(path: "KithClient"),
  ],
  // A target depends on the modules that its files import and on no others: `make lint` compares the two.
  targets: [
    // The bodies of answers: the same files are compiled into KithClient, which apps use.
    .target(
      name: "ClientBodies", path: "KithClient/Sources/KithClient/Bodies", swiftSettings: .strict),
    // What every process shares.
    .shared("Wire", ["ClientBodies"]),
    .shared("Prometheus"),
    .shared("StrictHTTP"),
    .shared("Database", ["Wire", .grdb, .sqlite, .crypto, .deque]),
    .system("CPostgres", pkgConfig: "libpq", apt: "libpq-dev", brew: "libpq"),
    .shared("Postgres", ["Wire", "Database", "CPostgres", .deque, .logging, .nio, .nioPosix]),
    .shared("Tokens", ["Wire", .crypto, .cryptoExtras]),
    .shared("Traces", ["Wire", "Prometheus", .httpClient, .logging] + .buffers),
    .shared(
      "Web",
      [
        "Wire", "Prometheus", "StrictHTTP", "Database", "Postgres", "Tokens", "Traces", .httpClient, .crypto,
        .configuration, .systemPaths, .yams,
      ]
        + .buffers + .server),
    .shared(
      "Clients",
      ["Wire", "Web", "Tokens", "Traces", .httpClient, .nioPosix, .nioHTTP1, .lifecycle, .logging] + .buffers),
    .shared("Outbox", ["Wire", "Prometheus", "Database", "Tokens", "Web", .lifecycle, .logging]),
    .shared(
      "EventFeed",
      ["Wire", "Prometheus", "Database", "Web", "Clients", "Outbox", .hummingbird, .lifecycle, .logging]),
    .shared("RestQueries", ["Wire", "Database"]),
    .shared(
      "RestRoutes", ["Wire", "Database", "RestQueries", "Tokens", "Web", .hummingbird, .httpTypes, .crypto, .nio]),
    .shared("Quotas", ["Wire", "Database", "Tokens", "Web"]),
    .shared("Memberships", ["Wire", "Database"]),
    .shared("Messages", ["Wire", "Web", "Clients", "Outbox", .httpClient, .logging] + .buffers),
    .shared(
      "Photos",
      [
        "Wire", "Web", "Clients", "Traces", "CVips", .hummingbird, .httpClient, .nio, .nioPosix, .nioHTTP1, .crypto,
        .deque, .logging,
      ]),
    .system("CArgon2", pkgConfig: "libargon2", apt: "libargon2-dev", brew: "argon2"),
    .system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
    .system("CQREncode", pkgConfig: "libqrencode", apt: "libqrencode-dev", brew: "qrencode"),
    .system("CVipsLibrary", pkgConfig: "vips", apt: "libvips-dev", brew: "vips"),
    // What calls it: it is loaded with the first picture.
    .target(name: "CVips", dependencies: ["CVipsLibrary"], path: "Shared/CVips"),

    // One process each; a service never imports a service.
    .service(
      "Auth",
      [
        "ClientBodies", "Prometheus", "Tokens", "Outbox", "EventFeed", "Postgres", "Messages", "Quotas", "RestQueries",
        "RestRoutes", "CArgon2", "CCurl", .httpTypes, .httpClient, .crypto, .lifecycle, .logging,
      ] + .buffers),
    .service(
      "Invites",
      [
        "ClientBodies", "Tokens", "Outbox", "EventFeed", "Messages", "Quotas", "CQREncode", .httpTypes, .nio, .crypto,
        .lifecycle, .logging,
      ]),
    .service(
      "Groups",
      [
        "ClientBodies", "Tokens", "Outbox", "EventFeed", "Quotas", "Memberships", "Photos", "RestQueries", "RestRoutes",
        .httpTypes, .nio, .lifecycle, .logging,
      ]),
    .service(
      "Lists", ["ClientBodies", "Tokens", "EventFeed", "Memberships", .crypto, .lifecycle, .logging] + .buffers),
    .service(
      "Credits",
      [
        "ClientBodies", "Prometheus", "Tokens", "Outbox", "EventFeed", .httpTypes, .httpClient, .crypto, .certificates,
        .asn1, .yams, .nioHTTP1, .lifecycle, .logging,
      ] + .buffers),
    .service(
      "Events",
      [
        "ClientBodies", "Prometheus", "Tokens", "Outbox", "Postgres", .httpTypes, .httpClient, .deque, .nioHTTP1,
        .nioHTTP2, .nioWebSocket, .nioSSL, .lifecycle, .logging,
      ] + .buffers, resources: ["de", "en", "es", "fr", "pt"].map { "Push/Texts/\($0).json" }),
    .service(
      "Adventures",
      [
        "Tokens", "Outbox", "EventFeed", "Quotas", "RestQueries", "RestRoutes", .httpTypes, .nio, .lifecycle, .logging,
      ]),
    .service(
      "Timepoints",
      [
        "ClientBodies", "Prometheus", "Tokens", "Outbox", "EventFeed", "Photos", "Postgres", .httpTypes, .httpClient,
        .crypto, .nioPosix, .lifecycle, .logging, .yams,
      ] + .buffers,
      resources: ["Providers/Models/models.yaml"] + timepointPrompts.map { "Prompts/\($0)" }),
    .gateway(
      [
        "StrictHTTP", "DocumentationBundles", "Wire", "Prometheus", "Tokens", "Traces", "Web", "Clients", .nioPosix,
        .nioTLS, .nioSSL, .httpClient, .crypto, .lifecycle, .signals, .logging, .deque,
      ] + .buffers),
    .target(
      name: "DocumentationBundles", path: "gateway/Pages/Bundles",
      exclude: [
        "README.md", "LICENSE-swagger-ui", "LICENSE-redoc", "swagger-ui-bundle.js.gz", "swagger-ui.css.gz",
        "redoc.standalone.js.gz",
      ]),

    .executable("kith-auth", ["Auth", "Web"], path: "Services/Auth/Main"),
    .executable("kith-credits", ["Credits", "Web"], path: "Services/Credits/Main"),
    .executable("kith-invites", ["Invites", "Web"], path: "Services/Invites/Main"),
    .executable("kith-groups", ["Groups", "Web"], path: "Services/Groups/Main"),
    .executable("kith-lists", ["Lists", "Web"], path: "Services/Lists/Main"),
    .executable("kith-events", ["Events", "Web"], path: "Services/Events/Main"),
    .executable("kith-adventures", ["Adventures", "Web"], path: "Services/Adventures/Main"),
    .executable("kith-timepoints", ["Timepoints", "Web"], path: "Services/Timepoints/Main"),
    .executable("kith-gateway", ["Gateway", "Web"], path: "gateway/Main"),
    .executable(
      "kith",
      .services + [
        "Gateway", "Database", "Web", "Wire", "Tokens", .httpClient, .crypto, .nio, .nioPosix, .lifecycle, .logging,
      ], path: "Services/Kith"),

    .target(
      name: "Support",
      dependencies: .services + [
        "Gateway", "Web", "Wire", "Clients", "Database", "Postgres", "CPostgres", "Tokens", .crypto, .cryptoExtras,
        .certificates, .asn1, .hummingbird, .httpTypes, .httpClient, .lifecycle, .logging, .nioPosix, .nioSSL,
        .nioHTTP1,
      ] + .buffers,
      path: "Tests/Support", swiftSettings: .strict),
    .target(
      name: "Fuzz", dependencies: ["StrictHTTP"], path: "Tests/Fuzz", exclude: ["Target.swift"], swiftSettings: .strict),
    .tests("Wire", ["Support", "Wire"]),
    .tests("Prometheus", ["Prometheus", "Database", "Support", "Web", "Wire"]),
    .tests("StrictHTTP", ["StrictHTTP", "Fuzz", "Support"]),
    .tests("Database", ["Database", "Postgres", "Support", "Wire", .nio, .nioPosix]),
    .tests("Tokens", ["Tokens", "Wire", .crypto, .cryptoExtras]),
    .tests(
      "Web",
      ["Credits", "Gateway", "Tokens", .hummingbird, .httpTypes, .lifecycle, .logging, .nio, .nioEmbedded, .nioPosix]
        + .serviceTests),
    .tests(
      "Gateway",
      [
        "Gateway", "StrictHTTP", "Clients", "Credits", "Tokens", "Web", "Wire", "Support", .crypto, .hummingbird,
        .httpClient, .lifecycle, .logging, .nio, .nioPosix, .nioHTTP1, .nioSSL,
      ]),
    .tests(
      "Traces",
      ["Traces", "Prometheus", "Web", "Wire", "Clients", "Gateway", "Support", .hummingbird, .nio, .logging]),
    .tests("Outbox", ["Outbox", "Prometheus", "Tokens", .httpClient, .logging] + .serviceTests),
    .tests("Messages", ["Messages", "Web", "Wire", "Support", .logging]),
    .tests(
      "Auth",
      ["Auth", "ClientBodies", "Gateway", "Messages", "Postgres", "Tokens", .crypto, .hummingbird, .httpClient]
        + .buffers + .serviceTests),
    .tests("Invites", ["Invites", "Messages", "Outbox", "Tokens"] + .serviceTests),
    .tests("Photos", ["Photos", "Support", "Wire"]),
    .tests(
      "Groups",
      ["Groups", "Photos", "Outbox", "Tokens", "kith", .hummingbird, .lifecycle, .logging, .nio, .nioHTTP1]
        + .serviceTests),
    .tests(
      "Lists", ["ClientBodies", "Lists", "kith", .hummingbird, .lifecycle, .nio, .nioPosix, .nioHTTP1] + .serviceTests),
    .tests(
      "Credits",
      ["ClientBodies", "Credits", "EventFeed", "Tokens", .crypto, .certificates, .hummingbird] + .serviceTests),
    .tests(
      "Events",
      [
        "Events", "EventFeed", "Prometheus", "Tokens", .nio, .nioPosix, .nioHTTP1, .nioWebSocket, .nioHTTP2, .nioSSL,
        .crypto, .hummingbird,
        .httpClient, .lifecycle, .logging,
      ] + .serviceTests + .programs),
    .tests("Adventures", ["Adventures", "Clients", "Database", "RestQueries", "Support", "Wire", .nioHTTP1]),
    .tests(
      "Timepoints",
      [
        "Timepoints", "Photos", "Outbox", "Wire", "Web", "Database", "Support", .httpClient, .nio, .crypto,
        .hummingbird, .logging,
      ] + .programs),
    .tests("RestQueries", ["RestQueries", "RestRoutes", "Database", "Support", "Wire"]),
    .tests(
      "KithClientStack", path: "KithClient",
      ["Database", "Messages", "Support", "Wire", .kithClient, .nio, .nioPosix, .nioHTTP1, .nioWebSocket]),
    .tests(
      "Plans", .services + ["Database", "EventFeed", "Outbox", "Quotas", "Support", "Tokens", "Web", "Wire", .nioHTTP1]),
    .tests(
      "Stories",
      ["Auth", "Credits", "Gateway", "Tokens", .crypto, .hummingbird, .nioHTTP1] + .serviceTests + .programs),
  ]
)

/// What the models are asked, and in which form they answer.
var timepointPrompts: [String] {
  let prompts = [
    "judge", "timeline", "scene", "characters", "graph", "moment", "camera", "dialog", "grounding", "image_prompt",
    "chat", "lines", "survey", "survey_summary",
  ]
  return ["rules.md", "chat_text.md"] + prompts.flatMap { ["\($0).md", "\($0).json"] }
}

// Not constants of this file: `package` is made before they are.
extension [SwiftSetting] {
  static let strict: Self = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
}

extension [LinkerSetting] {
  /// The linker of Swift's toolchain takes a third of the time of the system's, which is most of a build after a change.
  static let quick: Self = [.unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux], configuration: .debug))]
}

extension Target {
  static func shared(_ name: String, _ dependencies: [Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Shared/\(name)", swiftSettings: .strict)
  }

  static func system(_ name: String, pkgConfig: String, apt: String, brew: String) -> Target {
    .systemLibrary(
      name: name, path: "Shared/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
  }

  /// - Parameters:
  ///   - others: what it needs beyond what every service needs.
  ///   - resources: files that become part of the program, beside its `openapi.yaml`.
  static func service(_ name: String, _ others: [Dependency], resources: [String] = []) -> Target {
    .target(
      name: name, dependencies: ["Wire", "Web", "Clients", "Database", .hummingbird] + others,
      path: "Services/\(name)", exclude: ["Main"],
      resources: (["openapi.yaml"] + resources).map { .embedInCode($0) }, swiftSettings: .strict)
  }

  static func gateway(_ dependencies: [Dependency]) -> Target {
    .target(
      name: "Gateway", dependencies: dependencies, path: "gateway", exclude: ["Main", "Pages/Bundles"],
      resources: [.embedInCode("openapi.yaml")]
        + ["docs.html", "docs.js", "redoc.html", "redoc.js"].map { .embedInCode("Pages/\($0)") },
      swiftSettings: .strict)
  }

  static func executable(_ name: String, _ dependencies: [Dependency], path: String) -> Target {
    .executableTarget(
      name: name, dependencies: dependencies, path: path, swiftSettings: .strict, linkerSettings: .quick)
  }

  static func tests(_ name: String, path: String? = nil, _ dependencies: [Dependency]) -> Target {
    .testTarget(
      name: "\(name)Tests", dependencies: dependencies, path: "Tests/\(path ?? name)", swiftSettings: .strict,
      linkerSettings: .quick)
  }
}

extension [Target.Dependency] {
  static let services: Self = [
    "Auth", "Invites", "Groups", "Lists", "Credits", "Events", "Adventures", "Timepoints",
  ]
  /// Built beside the tests that start them.
  static let programs: Self = [
    "kith", "kith-auth", "kith-invites", "kith-groups", "kith-lists", "kith-credits", "kith-events",
    "kith-adventures", "kith-timepoints", "kith-gateway",
  ]
  /// Tests that call a service over HTTP and look into its database.
  static let serviceTests: Self = ["Wire", "Web", "Clients", "Database", "Support"]
  /// `ByteBuffer`, and `Data` made of it.
  static let buffers: Self = [.nio, .nioFoundation]
  /// An HTTP server with a life cycle and a log.
  static let server: Self = [
    .hummingbird, .hummingbirdCore, .httpTypes, .nioPosix, .lifecycle, .signals, .logging,
  ]
}

extension Target.Dependency {
  static let hummingbird = product(name: "Hummingbird", package: "hummingbird")
  static let hummingbirdCore = product(name: "HummingbirdCore", package: "hummingbird")
  static let httpTypes = product(name: "HTTPTypes", package: "swift-http-types")
  static let nio = product(name: "NIOCore", package: "swift-nio")
  static let nioEmbedded = product(name: "NIOEmbedded", package: "swift-nio")
  static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
  static let nioFoundation = product(name: "NIOFoundationCompat", package: "swift-nio")
  static let nioTLS = product(name: "NIOTLS", package: "swift-nio")
  static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")
  static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
  static let nioHTTP2 = product(name: "NIOHTTP2", package: "swift-nio-http2")
  static let nioWebSocket = product(name: "NIOWebSocket", package: "swift-nio")
  static let certificates = product(name: "X509", package: "swift-certificates")
  static let asn1 = product(name: "SwiftASN1", package: "swift-asn1")
  static let httpClient = product(name: "AsyncHTTPClient", package: "async-http-client")
  static let crypto = product(name: "Crypto", package: "swift-crypto")
  static let cryptoExtras = product(name: "CryptoExtras", package: "swift-crypto")
  static let lifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
  static let signals = product(name: "UnixSignals", package: "swift-service-lifecycle")
  static let configuration = product(name: "Configuration", package: "swift-configuration")
  static let systemPaths = product(name: "SystemPackage", package: "swift-system")
  static let logging = product(name: "Logging", package: "swift-log")
  static let grdb = product(name: "GRDB", package: "GRDB.swift")
  static let sqlite = product(name: "GRDBSQLite", package: "GRDB.swift")
  static let deque = product(name: "DequeModule", package: "swift-collections")
  static let kithClient = product(name: "KithClient", package: "KithClient")
  static let yams = product(name: "Yams", package: "Yams")

  static func product(name: String, package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: nil)
  }
}
