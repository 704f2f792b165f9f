import Database
import Foundation
import Support
import Testing

/// Supabase's storage client for Python against `/storage/v1`.
@Suite(.enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: Supabase's storage client was not tested"))
struct StorageClientTests {
  @Test(arguments: engines) func itStoresReadsListsSignsAndRemoves(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let photo = FileManager.default.temporaryDirectory.appending(path: "kith-\(UUID()).jpg")
      try SamplePhotos.jpegWithLocation.write(to: photo)
      // `try?`: a leftover file does no harm.
      defer { try? FileManager.default.removeItem(at: photo) }
      let printed = try await Python.run(
        Python.script("supabase_storage_surface"),
        arguments: [
          stack.gateway.base, alice.id.description, alice.access, bob.id.description, bob.access, photo.path,
        ])
      #expect(printed.contains("storage surface done"), "\(printed)")
    }
  }
}
