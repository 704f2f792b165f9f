import Foundation
import Hummingbird
import Web
import Wire

/// Devices with what their app tells of them, in bodies with a named root.
struct NamedDeviceRoutes: Sendable {
  let devices: DeviceStore
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.group(context: SignedIn.self)
    mine.post("/api/v1/devices", use: register)
    mine.delete("/api/v1/devices", use: unregisterToken)
    mine.delete("/api/v1/devices/{device}", use: unregister)
  }

  @Sendable private func register(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let device = try await request.json(NewNamedDeviceBody.self).device(at: now())
    let user = context.user
    return try await idempotency.once(call) { db in
      let device = try DeviceStore.register(device, of: user, on: db)
      return try .exactJSON(RegisteredDeviceBody(device), status: .created)
    }.response
  }

  /// The token in the query or in the body. Of one that is not registered it is true already.
  @Sendable private func unregisterToken(_ request: Request, _ context: SignedIn) async throws -> Response {
    let query = request.uri.queryParameters
    var token = (query["apns_token"] ?? query["device_token"]).map(String.init)
    if token == nil { token = try await request.jsonIfAny(GoneDeviceBody.self)?.token }
    guard let token else { throw Failure.invalid(.init("apns_token", "is required")) }
    try await devices.unregister(token: token.lowercased(), of: context.user)
    return Response(status: .noContent)
  }

  /// By either id, or by token.
  @Sendable private func unregister(_ request: Request, _ context: SignedIn) async throws -> Response {
    let name = context.parameters.get("device") ?? ""
    var wasThere = try await devices.unregister(token: name.lowercased(), of: context.user)
    if let number = Int(name) { wasThere = try await devices.unregister(number: number, of: context.user) }
    if let id = DeviceID(name) { wasThere = try await devices.unregister(id, of: context.user) }
    guard wasThere else { throw Failure.deviceNotFound }
    return Response(status: .noContent)
  }
}
