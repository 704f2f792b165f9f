import Foundation

/// Photos that are sent as soon as that is possible, also after a restart of the app, each once.
///
/// With the transport `URLSessionTransport.background(identifier:)` of Apple's systems, an upload that has begun goes
/// on while the app is suspended.
public actor PhotoUploads {
  private struct State: Codable {
    var userID: String?
    var uploads: [PhotoUpload] = []
  }

  private let api: API
  private let folder: URL
  private let file: StateFile<State>
  private var state: State
  private var sending: Task<Void, any Error>?
  private var watchers: [Int: AsyncStream<[PhotoUpload]>.Continuation] = [:]
  private var watcherCount = 0

  /// - Parameters:
  ///   - folder: of this queue alone, in the app's Application Support folder. One for each account.
  ///   - transport: nil: that of the client.
  public init(client: KithClient, folder: URL, transport: (any Transport)? = nil) {
    api = transport.map(client.api.over) ?? client.api
    self.folder = folder
    file = StateFile(folder.appendingPathComponent("uploads.json"))
    state = file.read() ?? State()
  }

  /// In the order in which they were added.
  public var uploads: [PhotoUpload] { state.uploads }

  /// The queue now and after each change, also of the progress.
  public var changes: AsyncStream<[PhotoUpload]> {
    let (stream, continuation) = AsyncStream<[PhotoUpload]>.makeStream(bufferingPolicy: .bufferingNewest(1))
    watcherCount += 1
    let id = watcherCount
    watchers[id] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeWatcher(id) } }
    continuation.yield(state.uploads)
    return stream
  }

  /// Puts a copy of a photo into the queue. ``send()`` sends it.
  ///
  /// - Throws: ``KithFailure/invalid(_:)`` for more than 10 MB, and the errors of the file system.
  @discardableResult
  public func add(_ content: Photos.Content, to group: SharedGroup.ID) throws -> PhotoUpload.ID {
    let upload = PhotoUpload(to: group)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    switch content {
    case .data(let data): try data.write(to: location(of: upload), options: .atomic)
    case .file(let file): try FileManager.default.copyItem(at: file, to: location(of: upload))
    }
    do {
      _ = try Photos.body(.file(location(of: upload)))
      try change { $0.uploads.append(upload) }
    } catch {
      removeFile(of: upload)
      throw error
    }
    return upload.id
  }

  /// Sends what waits, one after the other. To be called after ``add(_:to:)``, at the start of the app, and when the
  /// network is back. Callers that come together share one run. Safe to repeat.
  ///
  /// - Throws: ``KithFailure`` that another try may mend, such as no network. The rest waits.
  public func send() async throws {
    let running = sending ?? Task { try await sent() }
    sending = running
    try await running.cancellableValue
  }

  /// Removes a photo from the queue, also one that was sent from the list. One that is being sent may still arrive.
  public func remove(_ id: PhotoUpload.ID) throws {
    guard let upload = state.uploads.first(where: { $0.id == id }) else { return }
    try change { $0.uploads.removeAll { $0.id == id } }
    removeFile(of: upload)
  }

  /// Forgets everything, for who signs out.
  public func removeAll() throws {
    sending?.cancel()
    for upload in state.uploads { removeFile(of: upload) }
    try change { $0 = State() }
  }

  private func sent() async throws {
    defer { sending = nil }
    _ = try await api.sessions.bearer()
    if let user = await api.sessions.userID, state.userID != user {
      guard state.userID == nil else {
        throw KithFailure.invalid("These photos belong to another account: use a folder for each.")
      }
      try change { $0.userID = user }
    }
    while let upload = state.uploads.first(where: { $0.status == .waiting }) {
      let status = try await outcome(of: upload)
      try change { state in
        guard let index = state.uploads.firstIndex(where: { $0.id == upload.id }) else { return }
        state.uploads[index].status = status
      }
      removeFile(of: upload)
    }
  }

  /// - Throws: what another try may mend.
  private func outcome(of upload: PhotoUpload) async throws -> PhotoUpload.Status {
    do {
      let photo = try await Photos(api: api).send(
        .file(location(of: upload)), to: upload.groupID, idempotencyKey: upload.id
      ) { share in
        Task { [weak self] in await self?.progressed(upload.id, share) }
      }
      return .sent(photo)
    } catch let KithFailure.refused(refusal)
      where (400..<500).contains(refusal.status) && ![401, 408, 429].contains(refusal.status)
    {
      return .refused(code: refusal.code.text, message: refusal.message)
    } catch let KithFailure.invalid(message) {
      return .refused(code: "unreadable_file", message: message)
    }
  }

  /// The calls of a progress may overtake each other.
  private func progressed(_ id: PhotoUpload.ID, _ share: Double) {
    guard let index = state.uploads.firstIndex(where: { $0.id == id }), share > state.uploads[index].progress else {
      return
    }
    state.uploads[index].progress = share
    tell()
  }

  private func change(_ body: (inout State) -> Void) throws {
    var next = state
    body(&next)
    try file.write(next)
    state = next
    tell()
  }

  private func location(of upload: PhotoUpload) -> URL { folder.appendingPathComponent(upload.id) }

  /// `try?`: what is left lies in the app's own folder.
  private func removeFile(of upload: PhotoUpload) { try? FileManager.default.removeItem(at: location(of: upload)) }

  private func tell() { for watcher in watchers.values { watcher.yield(state.uploads) } }

  private func removeWatcher(_ id: Int) { watchers[id] = nil }
}
