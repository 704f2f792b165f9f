import Support
import Testing

@testable import Groups
@testable import Photos

/// Readiness of a process that cannot render photos.
@Suite struct PhotoReadinessTests {
  @Test func withoutTheLibraryOfPicturesGroupsIsNotReadyAndLogsWhy() async throws {
    try await withStack(.sqlite) { stack in
      let log = RecordedLog()
      let own = stack.dependencies(of: "groups")
      let groups = try await buildGroups(
        own.with(own.settings, logger: log.logger),
        library: VipsLibrary(fileName: "libmissing.so.1", retryInterval: .zero))
      try await running([groups]) {
        let browser = Browser("http://127.0.0.1:\(try await groups.port.number)")
        try await eventually("the reason") {
          let ready = try await browser.get("/health/ready")
          #expect(ready.status == 503 && ready.headers["retry-after"] == ["1"])
          return log.all.contains {
            $0.level == .error && $0.text.contains("pictures cannot be rendered") && $0.text.contains("libmissing.so.1")
          }
        }
        #expect(try await browser.get("/health/live").status == 200)
        #expect(try await stack.groups.get("/health/ready").status == 200, "the one with the library")
      }
    }
  }
}
