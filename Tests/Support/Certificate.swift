import Foundation

/// A folder with the key and the self-signed certificate of `localhost`.
package func withCertificate(_ body: (String) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kith-\(UUID().uuidString)").path
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  defer {
    // `try?`: a folder that cannot be removed is the system's to remove.
    try? FileManager.default.removeItem(atPath: folder)
  }
  try await run([
    "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
    "-keyout", folder + "/key.pem", "-out", folder + "/certificate.pem", "-subj", "/CN=localhost", "-addext",
    "subjectAltName=DNS:localhost",
  ])
  try await body(folder)
}
