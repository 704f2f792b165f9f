import ClientBodies
import Foundation
import Hummingbird
import Web
import Wire

/// The endpoints for devices that are registered with nothing but a push token.
struct DeviceTokenRoutes: Sendable {
  let devices: DeviceStore
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.get("/api/devices", use: list)
    userRoutes.post("/api/devices/register", use: register)
    userRoutes.delete("/api/devices/unregister", use: unregister)
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    .json(DevicesAnswer(devices: try await devices.devices(of: context.user).map { RegisteredDevice($0) }))
  }

  @Sendable private func register(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let body = try await request.json(NewDeviceBody.self)
    let (user, session, now) = (context.user, context.session, now())
    let device = Device(
      id: .new(at: now), token: try Device.token(body.device_token, field: "device_token", digits: 64...64),
      platform: try Device.platform(body.platform, field: "platform"),
      environment: try Device.environment(body.environment, field: "environment"),
      timeZone: try Device.timeZone(body.timezone, field: "timezone"), createdAt: now, updatedAt: now)
    return try await idempotency.once(call) { db in
      _ = try DeviceStore.register(device, of: user, in: session, on: db)
      return try .json(SuccessBody(success: true))
    }.response
  }

  /// Succeeds also when the token is not registered.
  @Sendable private func unregister(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let token = request.uri.queryParameters["device_token"] else {
      throw Failure.invalid(.init("device_token", "is required"))
    }
    try await devices.unregister(token: token.lowercased(), of: context.user)
    return .json(SuccessBody(success: true))
  }
}

/// The request to register a device.
private struct NewDeviceBody: Decodable {
  let device_token: String
  let platform: String
  let environment: String?
  let timezone: String?
}

extension RegisteredDevice {
  fileprivate init(_ device: Device) {
    self.init(
      id: device.id.description, platform: device.platform.rawValue, deviceToken: device.token,
      createdAt: device.createdAt)
  }
}

/// The response to a request that returns no data.
private struct SuccessBody: Encodable {
  let success: Bool
}
