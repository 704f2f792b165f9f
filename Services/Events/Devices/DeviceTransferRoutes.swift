import Hummingbird
import Web
import Wire

/// `POST /internal/devices`, by which the groups service hands over the devices that it registered in earlier versions.
struct DeviceTransferRoutes: Sendable {
  let devices: DeviceStore

  func add(to routes: HTTPRoutes) {
    routes.group(context: ServiceCaller.self).add(middleware: RequiresService(["groups"]))
      .post("/internal/devices", use: takeOver)
  }

  @Sendable private func takeOver(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let body = try await request.json(TransferredDevices.self)
    guard body.devices.count <= TransferredDevices.countMax else {
      throw Failure.invalid(.init("devices", "must have at most \(TransferredDevices.countMax) devices"))
    }
    try await devices.take(over: body.devices)
    return Response(status: .noContent)
  }
}
