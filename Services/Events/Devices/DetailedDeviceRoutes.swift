import Foundation
import Hummingbird
import Web
import Wire

/// The endpoints for devices that are registered with their name and versions, in bodies with the root key `device`.
struct DetailedDeviceRoutes: Sendable {
  let devices: DeviceStore
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.post("/api/v1/devices", use: register)
    userRoutes.delete("/api/v1/devices", use: unregisterToken)
    userRoutes.delete("/api/v1/devices/{device}", use: unregister)
  }

  @Sendable private func register(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let device = try await request.json(NewDetailedDeviceBody.self).device(at: now())
    let (user, session) = (context.user, context.session)
    return try await idempotency.once(call) { db in
      let device = try DeviceStore.register(device, of: user, in: session, on: db)
      return try .exactJSON(RegisteredDeviceBody(device), status: .created)
    }.response
  }

  /// Reads the token from the query or the body. Succeeds also when the token is not registered.
  @Sendable private func unregisterToken(_ request: Request, _ context: SignedIn) async throws -> Response {
    let query = request.uri.queryParameters
    var token = (query["apns_token"] ?? query["device_token"]).map(String.init)
    if token == nil { token = try await request.jsonIfPresent(UnregisterDeviceBody.self)?.token }
    guard let token else { throw Failure.invalid(.init("apns_token", "is required")) }
    try await devices.unregister(token: token.lowercased(), of: context.user)
    return Response(status: .noContent)
  }

  /// Unregisters a device by its token, its number, or its id.
  @Sendable private func unregister(_ request: Request, _ context: SignedIn) async throws -> Response {
    let reference = context.parameters.get("device") ?? ""
    var wasRegistered = try await devices.unregister(token: reference.lowercased(), of: context.user)
    // A token may consist of decimal digits.
    if !wasRegistered, let number = Int(reference) {
      wasRegistered = try await devices.unregister(number: number, of: context.user)
    }
    if !wasRegistered, let id = DeviceID(reference) {
      wasRegistered = try await devices.unregister(id, of: context.user)
    }
    guard wasRegistered else { throw Failure.deviceNotFound }
    return Response(status: .noContent)
  }
}
