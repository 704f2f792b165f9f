import Foundation
import Web
import Wire

/// Whether the ports are free, or whether it is kith that listens there.
struct PortCheck {
  let settings: Settings

  func findings() async -> [Finding] {
    var findings = [await finding("gateway", "PORT", default: ServiceAddresses.gatewayPort)]
    for service in ServiceName.bundled {
      findings.append(
        await finding(service.rawValue, "\(service.variablePrefix)_PORT", default: service.defaultPort))
    }
    return findings
  }

  private func finding(_ name: String, _ variable: String, default fallback: Int) async -> Finding {
    let part = "port"
    do {
      let port = try settings.int(variable, default: fallback, in: 0...65535)
      // The services of kith listen on the loopback address, wherever the gateway does.
      let host = variable == "PORT" ? settings.string("HOST", default: "127.0.0.1") : "127.0.0.1"
      guard port > 0 else { return .ok(part, "\(name) takes any free one") }
      do {
        try await requireFreePort(of: Settings(["HOST": host, "PORT": String(port)]), port)
        return .ok(part, "\(port) is free for \(name)")
      } catch {
        if await isKith(port, isGateway: variable == "PORT") { return .ok(part, "\(name) listens on \(port)") }
        return .problem(
          part, "\(String(describing: error)): \(name) needs it",
          mend: "stop the other program (`ss -ltnp 'sport = :\(port)'` names it), or set \(variable)")
      }
    } catch {
      return .problem(part, String(describing: error), mend: "set \(variable) to a port")
    }
  }

  /// Whether the program there answers `/health` as kith does, healthy or not. Only the gateway's answer names services.
  private func isKith(_ port: Int, isGateway: Bool) async -> Bool {
    let scheme = settings.nonempty("TLS_CERTIFICATE") == nil ? "http" : "https"
    for scheme in Set([scheme, "http"]) {
      let answer = await HTTPProbe.get("\(scheme)://127.0.0.1:\(port)/health", verifiesCertificate: false)
      // `try?`: what does not answer, or answers something else, is another program.
      guard let reply = try? answer.get(), let health = try? JSON.decode(Health.self, from: reply.body) else {
        continue
      }
      if (health.services != nil) == isGateway { return true }
    }
    return false
  }
}
