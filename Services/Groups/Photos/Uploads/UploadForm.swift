import Hummingbird
import NIOCore
import Photos
import Wire

/// Reads a file and short fields of an upload's form data and ignores others.
struct UploadForm {
  private(set) var writer: UploadWriter
  private(set) var fields: [String: String] = [:]
  private(set) var hasFile = false
  private var reader: MultipartReader
  private let fileNames: Set<String>
  private let fieldNames: Set<String>
  private var part = ""
  private var byteCount = 0
  private var isComplete = false

  private static let fieldBytesMax = 100

  init(reader: MultipartReader, writer: UploadWriter, fileNames: Set<String>, fieldNames: Set<String>) {
    self.reader = reader
    self.writer = writer
    self.fileNames = fileNames
    self.fieldNames = fieldNames
  }

  mutating func read(_ body: RequestBody) async throws {
    for try await buffer in body {
      byteCount += buffer.readableBytes
      guard byteCount <= UploadedFile.bytesMax + PhotoUploadReader.formOverheadBytesMax else {
        throw Failure.photoTooLarge
      }
      reader.append(buffer)
      while let event = try reader.next() { try await apply(event) }
    }
    guard isComplete else { throw Failure.uploadIncomplete }
    try await writer.flush()
  }

  private mutating func apply(_ event: MultipartReader.Event) async throws {
    switch event {
    case .partBegan(let name) where fileNames.contains(name) && hasFile:
      throw Failure.invalid(.init("file", "must come once"))
    case .partBegan(let name):
      part = name
      if fileNames.contains(name) { hasFile = true }
      if fieldNames.contains(name) { fields[name] = "" }
    case .partBytes(let bytes) where fileNames.contains(part): try await writer.append(bytes)
    case .partBytes(let bytes) where fieldNames.contains(part):
      fields[part, default: ""] += String(buffer: bytes)
      guard fields[part, default: ""].utf8.count <= Self.fieldBytesMax else {
        throw Failure.invalid(.init(part, "is too long"))
      }
    case .partBytes, .partEnded: break
    case .ended: isComplete = true
    }
  }
}
