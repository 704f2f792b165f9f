import Foundation

/// Creates a folder with a self-signed certificate for `localhost`, `certificate.pem`, and its key, `key.pem`.
package func withCertificate(_ body: (String) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kith-\(UUID().uuidString)").path
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  defer {
    // `try?`: a leftover folder does no harm.
    try? FileManager.default.removeItem(atPath: folder)
  }
  try await createCertificate(folder + "/certificate.pem", key: folder + "/key.pem")
  try await body(folder)
}

/// Creates the files of a self-signed certificate for `localhost` and of its key.
func createCertificate(_ certificate: String, key: String) async throws {
  try await run([
    "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
    "-keyout", key, "-out", certificate, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
  ])
}
