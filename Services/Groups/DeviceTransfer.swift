import Clients
import Database
import Foundation
import Logging
import Outbox
import ServiceLifecycle
import Web
import Wire

/// Hands the devices that earlier versions of this service have registered over to the events service, once, after the
/// start. Devices are deleted here when they are stored there.
struct DeviceTransfer: Service {
  let database: any Database
  let events: EventsClient
  let isEnabled: Bool
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown { if isEnabled { await transferAll() } }
    try await gracefulShutdown()
  }

  private func transferAll() async {
    let backoff = Backoff(first: .seconds(1), longest: .seconds(60))
    var failures = 0
    while !Task.isCancelled {
      do {
        if try await transferPage() == 0 { return }
        failures = 0
      } catch {
        failures += 1
        logger.warning("devices not handed over", metadata: ["error": "\(error)", "tries": "\(failures)"])
        // `try?`: it throws only when cancelled, which the loop's condition checks.
        try? await Task.sleep(for: backoff.delay(after: failures))
      }
    }
  }

  /// - Returns: how many were handed over.
  private func transferPage() async throws -> Int {
    let devices = try await database.read { db in
      try db.rows("select * from device order by id limit \(TransferredDevices.countMax)").map(TransferredDevice.init)
    }
    guard !devices.isEmpty else { return 0 }
    try await events.take(over: devices)
    try await database.write { db in
      for device in devices {
        try db.change("delete from device where id = \(device.id) and updated_at = \(device.updatedAt)")
      }
    }
    return devices.count
  }
}

extension TransferredDevice {
  fileprivate init(_ row: Row) throws {
    self.init(
      id: try row.get("id"), user: try row.get("user_id"), token: try row.get("token"),
      platform: try row.get("platform"), bundleID: try row.optional("bundle_id"), name: try row.optional("name"),
      osVersion: try row.optional("os_version"), appVersion: try row.optional("app_version"),
      createdAt: try row.get("created_at"), updatedAt: try row.get("updated_at"))
  }
}
