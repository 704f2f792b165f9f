import Support
import Testing

@testable import Photos
@testable import Timepoints

/// Readiness of a process that cannot render pictures.
@Suite struct PictureReadinessTests {
  @Test func withoutTheLibraryOfPicturesTimepointsIsNotReadyAndLogsWhy() async throws {
    try await withStack(.sqlite) { stack in
      let log = RecordedLog()
      let own = stack.dependencies(of: "timepoints")
      let timepoints = try await buildTimepoints(
        own.with(own.settings, logger: log.logger),
        library: VipsLibrary(fileName: "libmissing.so.1", retryInterval: .zero))
      try await running([timepoints]) {
        let browser = Browser("http://127.0.0.1:\(try await timepoints.port.number)")
        try await eventually("the reason") {
          let ready = try await browser.get("/health/ready")
          #expect(ready.status == 503)
          return log.all.contains {
            $0.level == .error && $0.text.contains("pictures cannot be rendered") && $0.text.contains("libmissing.so.1")
          }
        }
        #expect(try await browser.get("/health/live").status == 200)
        #expect(try await stack.timepoints.get("/health/ready").status == 200, "the one with the library")
      }
    }
  }
}
