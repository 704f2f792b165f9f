import Foundation
import Support
import Testing
import Web
import Wire

/// The manifests of `deploy/kubernetes`, rendered and compared with the schemas of Kubernetes and with the services.
@Suite(.enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: the manifests are not validated"))
struct KubernetesTests {
  private static let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let folder = project.appending(path: "deploy/kubernetes")
  private static let components = ["gateway"] + ServiceName.bundled.map(\.rawValue)

  @Test(arguments: ["production", "small"]) func everyComponentIsDeployed(overlay: String) async throws {
    let objects = try await Self.objects(overlay)
    for name in Self.components {
      let deployment = try #require(objects.first { $0.kind == "Deployment" && $0.name == name })
      let container = try #require(deployment.container)
      #expect(container["image"] == .string("registry.example.com/kith-\(name):0.1.0"))
      for probe in ["startupProbe", "readinessProbe", "livenessProbe"] { #expect(container[probe] != nil, "\(name)") }
      #expect(container["lifecycle"]?["preStop"] != nil)
      for kind in ["Service", "PodDisruptionBudget", "HorizontalPodAutoscaler"] {
        #expect(objects.contains { $0.kind == kind && $0.name == name }, "\(kind) of \(name)")
      }
      let migrates = objects.contains { $0.kind == "Job" && $0.name == "\(name)-migrations" }
      #expect(migrates == (name != "gateway"))
    }
  }

  @Test func onlyTheGatewayIsReachable() async throws {
    let policies = try await Self.objects("production").filter { $0.kind == "NetworkPolicy" }
    let open = policies.filter { policy in
      guard case .array(let rules)? = policy.value["spec"]?["ingress"] else { return false }
      return rules.contains { $0["from"] == nil }
    }
    #expect(open.map(\.name) == ["gateway"])
    let services = try #require(policies.first { $0.name == "services" })
    for name in ServiceName.bundled.map(\.rawValue) { #expect("\(services.value)".contains("\"\(name)\""), "\(name)") }
  }

  @Test func everyVariableIsDocumentedAndEverySecretIsMade() async throws {
    let documented = try String(contentsOf: Self.project.appending(path: ".env.example"), encoding: .utf8)
    let secrets = try await Self.secrets()
    for object in try await Self.objects("production") {
      for variable in object.variables {
        let name = try #require(variable["name"]?.text)
        #expect(documented.contains("\(name)="), "\(name)")
        guard let reference = variable["valueFrom"]?["secretKeyRef"] else { continue }
        let (secret, key) = try (#require(reference["name"]?.text), #require(reference["key"]?.text))
        #expect(secrets[secret]?[key] != nil, "\(object.name): \(secret) has no \(key)")
      }
      for secret in object.providers { #expect(secrets[secret] != nil, "\(object.name): \(secret) is not made") }
    }
  }

  @Test func podsGetTheSecretsThatComposePassesOn() async throws {
    let (secrets, compose) = (try await Self.secrets(), try await Self.compose())
    let deployments = try await Self.objects("production").filter { $0.kind == "Deployment" }
    for name in Self.components {
      let deployment = try #require(deployments.first { $0.name == name })
      guard case .object(let passed)? = compose["services"]?[name]?["environment"] else {
        Issue.record("\(name) is not in docker-compose.yml")
        continue
      }
      let confidential = passed.keys.filter { variable in
        variable.wholeMatch(of: /.*_(KEY|KEYS|SECRET|TOKEN|PREVIOUS)|DATABASE_.*URL|SMTP_URL/) != nil
      }
      #expect(confidential.count >= 3, "\(name)")
      let given =
        deployment.variables.compactMap { $0["name"]?.text }
        + deployment.providers.flatMap { secrets[$0].map { Array($0.keys) } ?? [] }
      #expect(Set(confidential).subtracting(given).sorted() == [], "\(name)")
    }
  }

  /// Providers give keys as files; a pod has no such file.
  @Test func aSecretHasTheTextOfAKeyFile() async throws {
    let secrets = try await Self.secrets()
    #expect(secrets["kith-events-providers"]?["APNS_PRIVATE_KEY"] == Self.keyText)
    #expect(secrets["kith-auth-providers"]?["SMTP_URL"] == Self.mailURL)
    let bare = try await Self.secrets(ofProviders: false)
    #expect(bare["kith-events"] != nil && bare["kith-events-providers"] == nil)
  }

  /// The premise of the tests above.
  @Test(arguments: [
    ("minReplicas: 2", "minReplicas: two"), ("  maxReplicas", "  replicasMax"), ("path: /health/ready", "paths: /"),
  ])
  func aMistakeIsFound(text: String, replacement: String) async throws {
    let copy = FileManager.default.temporaryDirectory.appending(path: "kith-kubernetes-\(UUID())")
    try FileManager.default.copyItem(at: Self.folder, to: copy)
    // `try?`: a leftover folder does no harm.
    defer { try? FileManager.default.removeItem(at: copy) }
    let file = copy.appending(path: "base/lists.yaml")
    let changed = try String(contentsOf: file, encoding: .utf8).replacing(text, with: replacement)
    try Data(changed.utf8).write(to: file)
    let (code, printed) = try await Python.outcome(
      of: try Python.script("kubernetes_check"), arguments: [copy.appending(path: "overlays/production").path])
    #expect(code != 0, "\(printed.prefix(300))")
  }

  /// An object of a rendered overlay.
  private struct Object: Sendable {
    let value: JSONValue

    var kind: String { value["kind"]?.text ?? "" }
    var name: String { value["metadata"]?["name"]?.text ?? "" }
    /// The first container of its pods.
    var container: JSONValue? {
      guard case .array(let containers)? = value["spec"]?["template"]?["spec"]?["containers"] else { return nil }
      return containers.first
    }
    /// What it has in `env`.
    var variables: [JSONValue] {
      guard case .array(let variables)? = container?["env"] else { return [] }
      return variables
    }
    /// The Secrets all of whose entries are variables.
    var providers: [String] {
      guard case .array(let sources)? = container?["envFrom"] else { return [] }
      return sources.compactMap { $0["secretRef"]?["name"]?.text }
    }
  }

  private static func objects(_ overlay: String) async throws -> [Object] {
    let path = folder.appending(path: "overlays/\(overlay)").path
    let printed = try await Python.run(try Python.script("kubernetes_check"), arguments: [path])
    return try JSON.decode([JSONValue].self, from: Data(printed.utf8)).map(Object.init)
  }

  private static let keyText = "-----BEGIN PRIVATE KEY-----\nMIGH\\n\n-----END PRIVATE KEY-----"
  private static let mailURL = #"smtp://kith:a"b\c@mail.example.com"#

  /// The entries of the Secrets that are made of a new `.env`, by the Secret's name.
  ///
  /// - Parameter ofProviders: whether the `.env` also has every variable that `make env` does not write.
  private static func secrets(ofProviders: Bool = true) async throws -> [String: [String: String]] {
    try await withTestDatabase(.sqlite) { testDatabase in
      let file = testDatabase.folder.appending(path: "env")
      try await printed(by: "scripts/env", file.path, in: testDatabase.folder)
      if ofProviders { try addProviders(to: file, keyFile: testDatabase.folder.appending(path: "key.p8")) }
      let text = try await printed(by: "scripts/kubernetes-secrets", file.path, in: testDatabase.folder)
      return try await secrets(in: text)
    }
  }

  private static func addProviders(to file: URL, keyFile: URL) throws {
    let example = try String(contentsOf: project.appending(path: ".env.example"), encoding: .utf8)
    let names = example.matches(of: /(?m)^(?:# )?([A-Z_]+)=/).map { String($0.1) }
    var text = try String(contentsOf: file, encoding: .utf8)
    for name in names + ["AUTH_DATABASE_READ_URL", "LISTS_DATABASE_READ_URL"] where !text.contains("\n\(name)=") {
      text += "\(name)=\(["APNS_PRIVATE_KEY": keyFile.path, "SMTP_URL": mailURL][name] ?? "a value")\n"
    }
    try Data(text.utf8).write(to: file)
    try Data("\(keyText)\n".utf8).write(to: keyFile)
  }

  @discardableResult
  private static func printed(by script: String, _ argument: String, in folder: URL) async throws -> String {
    let child = try ChildProcess(
      [project.appending(path: script).path, argument], environment: ["DATABASE_HOST": "db"],
      output: folder.appending(path: "output-\(UUID())").path)
    guard await child.end() == 0 else { throw Unexpected(reply: child.printed()) }
    return child.printed()
  }

  private static func secrets(in text: String) async throws -> [String: [String: String]] {
    var secrets: [String: [String: String]] = [:]
    for secret in try await documents(ofYAML: text) {
      guard let name = secret["metadata"]?["name"]?.text, case .object(let entries)? = secret["stringData"] else {
        throw Unexpected(reply: "\(secret)")
      }
      secrets[name] = entries.compactMapValues { $0.text }
    }
    return secrets
  }

  private static func compose() async throws -> JSONValue {
    let text = try String(contentsOf: project.appending(path: "docker-compose.yml"), encoding: .utf8)
    return try #require(try await documents(ofYAML: text).first)
  }

  private static func documents(ofYAML text: String) async throws -> [JSONValue] {
    let printed = try await Python.run(
      "import json, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin))))", input: text)
    return try JSON.decode([JSONValue].self, from: Data(printed.utf8))
  }
}

extension JSONValue {
  fileprivate var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }
}
