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
    for object in try await Self.objects("production") where Self.components.contains(object.name) {
      guard case .array(let variables)? = object.container?["env"] else { continue }
      for variable in variables {
        let name = try #require(variable["name"]?.text)
        #expect(documented.contains("\(name)="), "\(name)")
        guard let reference = variable["valueFrom"]?["secretKeyRef"] else { continue }
        let (secret, key) = try (#require(reference["name"]?.text), #require(reference["key"]?.text))
        #expect(secrets.contains("name: \(secret),"), "\(secret)")
        #expect(secrets.contains("  \(key): "), "\(key)")
      }
    }
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
  }

  private static func objects(_ overlay: String) async throws -> [Object] {
    let path = folder.appending(path: "overlays/\(overlay)").path
    let printed = try await Python.run(try Python.script("kubernetes_check"), arguments: [path])
    return try JSON.decode([JSONValue].self, from: Data(printed.utf8)).map(Object.init)
  }

  /// The Secrets that are made of a new `.env`, as text.
  private static func secrets() async throws -> String {
    try await withTestDatabase(.sqlite) { testDatabase in
      let file = testDatabase.folder.appending(path: "env").path
      for arguments in [["scripts/env", file], ["scripts/kubernetes-secrets", file]] {
        let path = project.appending(path: arguments[0]).path
        let output = testDatabase.folder.appending(path: "output").path
        let child = try ChildProcess(
          [path] + arguments.dropFirst(), environment: ["PATH": "/usr/bin:/bin", "DATABASE_HOST": "db"], output: output)
        guard await child.end() == 0 else { throw Unexpected(reply: child.printed()) }
        if arguments[0].hasSuffix("secrets") { return child.printed() }
      }
      return ""
    }
  }
}

extension JSONValue {
  fileprivate var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }
}
