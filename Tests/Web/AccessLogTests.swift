import Foundation
import Logging
import Support
import Testing
import Wire

@testable import Web

/// The lines of the access log are those that the log handler makes of the same values.
@Suite struct AccessLogTests {
  /// The lines that `log` writes.
  private static func lines(
    _ format: LogFormat, level: Logger.Level = .trace, _ log: (Logger) -> Void
  ) throws -> [String] {
    let pipe = Foundation.Pipe()
    let queue = LogQueue(to: pipe.fileHandleForWriting)
    let reader = BackgroundReader(pipe.fileHandleForReading)
    log(Logger(label: "credits") { StandardOutputLogHandler(label: $0, format: format, level: level, queue: queue) })
    queue.flush(within: 60)
    try pipe.fileHandleForWriting.close()
    return reader.text.split(separator: "\n").map(String.init)
  }

  /// A line without the text of its time.
  private static func timeless(_ line: String) -> String {
    line.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, with: "")
  }

  private static let plain = AccessLog.Entry(
    "GET", route: "/api/v1/credits/balance", status: 200, requestID: "my-id-1", traceID: nil, microseconds: 1234)
  private static let socket = AccessLog.Entry(
    "GET", route: "/realtime/v1/websocket", status: 101, requestID: "x", traceID: "0af7651916cd43dd",
    microseconds: 3_600_000_000, webSocket: .init(receivedBytes: 0, sentBytes: 1 << 40, endedBy: "client_silent"))
  private static let hostile = [
    "\u{1B}[31mred\u{1B}[0m", "a\"b\\c", "a\nb\r\nc\td", "\u{0}\u{1F}\u{7F}\u{80}\u{9F}\u{2028}",
    "e\u{301}\u{1B}\u{301}👩‍👩‍👧",
    String(decoding: [0x61, 0xFF, 0xC3, 0x28, 0xED, 0xA0, 0x80, 0x1B], as: UTF8.self), "",
    String(repeating: "/a\u{1}", count: 20_000),
  ]

  private static var entries: [AccessLog.Entry] {
    let durations = [0, 1, 10, 99, 100, 999, 1000, 1001, 12_340, 30_000_000, 86_400_000_123, 1_000_000_000_000_000]
    return hostile.map { .init($0, route: $0, status: 500, requestID: $0, traceID: $0, microseconds: 7) }
      + durations.map { .init("POST", route: nil, status: 0, requestID: "x", traceID: nil, microseconds: $0) }
      + [
        plain, .init("GET", route: "/a", status: 404, requestID: "x", traceID: "0af7651916cd43dd", microseconds: 5),
        socket,
      ]
  }

  @Test(arguments: [LogFormat.json, .text])
  func aLineIsTheOneThatTheHandlerMakes(format: LogFormat) throws {
    let entries = Self.entries
    let generic = try Self.lines(format) { logger in
      for entry in entries { logger.info("request", metadata: entry.metadata) }
    }
    let direct = try Self.lines(format) { logger in
      let log = AccessLog(logger)
      for entry in entries { log.log(isRoutine: false, entry) }
    }
    #expect(generic.count >= entries.count)
    #expect(direct.map(Self.timeless) == generic.map(Self.timeless))
  }

  @Test func aLineIsWrittenLikeThis() throws {
    let hostile = AccessLog.Entry(
      "A\u{1B}\"", route: "\\\n\t\u{7F}é", status: 404, requestID: "x", traceID: "0af7651916cd43dd", microseconds: 90)
    func log(_ logger: Logger) {
      AccessLog(logger).log(isRoutine: false, Self.plain)
      AccessLog(logger).log(isRoutine: true, hostile)
      logger.warning("careful", metadata: ["n": .stringConvertible(7), "list": ["a", "b"], "map": ["b": "c"]])
    }
    #expect(
      try Self.lines(.json, log).map(Self.timeless) == [
        #"{"time":"","level":"info","service":"credits","message":"request","duration_ms":1.234,"method":"GET","#
          + #""request_id":"my-id-1","route":"/api/v1/credits/balance","status":200}"#,
        #"{"time":"","level":"debug","service":"credits","message":"request","duration_ms":0.09,"method":"A \"","#
          + #""request_id":"x","route":"\\\n  é","status":404,"trace_id":"0af7651916cd43dd"}"#,
        #"{"time":"","level":"warning","service":"credits","message":"careful","list":["a","b"],"map":{"b":"c"},"n":7}"#,
      ])
    #expect(
      try Self.lines(.text, log).map(Self.timeless) == [
        " info credits: request duration_ms=1.234 method=GET request_id=my-id-1 route=/api/v1/credits/balance status=200",
        " debug credits: request duration_ms=0.09 method=A\" request_id=x route=\\",
        "\t\u{7F}é status=404 trace_id=0af7651916cd43dd",
        #" warning credits: careful list=["a", "b"] map=["b": "c"] n=7"#,
      ])
  }

  @Test(
    arguments: [
      (.debug, ["debug", "info"]), (.info, ["info"]), (.notice, []), (.warning, []), (.critical, []),
    ] as [(Logger.Level, [String])])
  func theLogLevelDecides(level: Logger.Level, logged: [String]) throws {
    var evaluated = 0
    func entry() -> AccessLog.Entry {
      evaluated += 1
      return Self.plain
    }
    let lines = try Self.lines(.text, level: level) { logger in
      let log = AccessLog(logger)
      log.log(isRoutine: true, entry())
      log.log(isRoutine: false, entry())
    }
    #expect(lines.map { $0.split(separator: " ")[1] } == logged.map { Substring($0) })
    #expect(evaluated == logged.count)
  }

  @Test func otherLoggersGetTheSameFields() {
    let recorded = RecordedLog()
    let log = AccessLog(recorded.logger)
    log.log(isRoutine: true, Self.plain)
    log.log(isRoutine: false, Self.plain)
    #expect(recorded.all.map(\.level) == [.debug, .info])
    #expect(recorded.lines.allSatisfy { $0.contains("my-id-1") && $0.contains("1.234") })
  }

  @Test func timesAreThoseOfRFC3339() {
    let clock = LogClock()
    var random = SystemRandomNumberGenerator()
    let edges = [0, 0.0004, 0.0005, 0.9994, 0.9995, 59.9999, 951_782_399.9996, 1_795_348_800]
    let others = (0..<1000).map { _ in Double.random(in: 0..<4_000_000_000, using: &random) }
    for seconds in edges + others {
      let date = Date(timeIntervalSince1970: seconds)
      var text: [UInt8] = []
      clock.write(date, to: &text)
      #expect(String(decoding: text, as: UTF8.self) == RFC3339.milliseconds(date))
    }
  }
}
