import NIOCore
import Wire

extension Socket {
  /// - Parameters:
  ///   - topic: by which the channel receives the event.
  ///   - seq: the number of the event in the topic.
  ///   - position: of the event in the whole log.
  func deliver(_ frames: FeedFrames, of topic: String, seq: Int, at position: Int, on channel: JoinedChannel) {
    let frames = user.map(frames.seen) ?? frames
    guard !channel.topics.contains(topic) else { return deliverChange(frames, at: position, on: channel) }
    channel.missed = max(channel.missed, seq)
    guard channel.phase == .live, seq > channel.position.seq else { return }
    guard seq == channel.position.seq + 1, isWritable else { return catchUp(channel) }
    writeDelivered(frames.frame(version, on: channel.name, seq: seq, channel.bindings))
    channel.position = LogPosition(seq: seq, epoch: channel.position.epoch)
  }

  /// Delivers several events at once, if the channel has exactly what is before them.
  ///
  /// - Parameter numbers: of the events, in the topic that the channel is named after.
  /// - Returns: whether they were written.
  func deliver(_ run: FeedRun, _ numbers: ClosedRange<Int>, on channel: JoinedChannel) -> Bool {
    guard channel.phase == .live, numbers.lowerBound == channel.position.seq + 1, isWritable else { return false }
    channel.missed = max(channel.missed, numbers.upperBound)
    writeDelivered(run.joined(version, on: channel, from: numbers.lowerBound))
    channel.position = LogPosition(seq: numbers.upperBound, epoch: channel.position.epoch)
    return true
  }

  /// Of a topic that the channel is not named after: once, whichever of its topics the event has.
  private func deliverChange(_ frames: FeedFrames, at position: Int, on channel: JoinedChannel) {
    guard channel.phase != .joining, position > channel.lastPosition else { return }
    channel.lastPosition = position
    guard let frame = frames.changes(version, on: channel.name, seq: nil, channel.bindings) else { return }
    guard isWritable else { return channel.hasMissedRows = true }
    writeDelivered(frame)
  }

  // MARK: Reading the log

  /// Sends what the log has after the channel's position, a page at a time, until nothing is missing. Meanwhile what is
  /// appended is not sent, as it will be read. A few channels of a socket read at the same time; the others wait.
  func catchUp(_ channel: JoinedChannel) {
    channel.phase = .catchingUp
    guard let topic = channel.topic?.text, let user, !channel.isReading, isWritable, readingCount < Self.readingMax
    else { return }
    channel.isReading = true
    readingCount += 1
    let (position, store, reads) = (channel.position, services.store, services.reads)
    later {
      try await reads.run { try await store.page(of: topic, after: position.seq, epoch: position.epoch, for: user) }
    } then: { [self] page in
      readingCount -= 1
      received(page, on: channel)
      for waiting in Array(channels.values) where waiting.phase == .catchingUp { catchUp(waiting) }
    }
  }

  private func received(_ page: Result<LogPage, any Error>, on channel: JoinedChannel) {
    guard isCurrent(channel) else { return }
    guard case .success(let page) = page else { return retryLater(channel) }
    channel.isReading = false
    // While it was read, the client may have stopped reading what other channels send. It is read again then.
    guard isWritable else { return }
    switch page {
    case .entries(let entries, let top): replay(entries, top: top, on: channel)
    case .gap(let gap): skip(gap, on: channel)
    }
  }

  /// So that few pages have been read in vain when the client stops reading.
  private static let readingMax = 4

  private func replay(_ entries: [LogEntry], top: Int, on channel: JoinedChannel) {
    var frames: [ByteBuffer] = []
    var (bytes, last) = (0, channel.position.seq)
    // The rest of the page is read again, when the client has read this.
    for entry in entries where bytes < Self.replayBytesMax {
      let event = user.map(entry.event.seen) ?? entry.event
      let frame = FeedFrames(event).frame(version, on: channel.name, seq: entry.seq, channel.bindings)
      frames.append(frame)
      bytes += frame.readableBytes
      last = entry.seq
    }
    channel.position = LogPosition(seq: last, epoch: channel.position.epoch)
    // Written last: it may change whether the client can be written to.
    write(frames)
    guard channel.phase == .catchingUp, isCurrent(channel) else { return }
    if max(channel.missed, top) > last { return catchUp(channel) }
    channel.phase = .live
  }

  private static let replayBytesMax = 256 * 1024

  private func skip(_ gap: LogGap, on channel: JoinedChannel) {
    services.metrics.refused(.gap)
    channel.position = LogPosition(seq: gap.top, epoch: gap.epoch)
    channel.missed = max(gap.top, channel.missed)
    send("broadcast", PhoenixPayload.gap(gap), on: channel)
    guard isCurrent(channel) else { return }
    if channel.missed > gap.top { return catchUp(channel) }
    channel.phase = .live
  }

  private func retryLater(_ channel: JoinedChannel) {
    let bound = NIOLoopBound((self, channel), eventLoop: loop)
    loop.scheduleTask(in: .milliseconds(.random(in: 500...1000))) {
      let (socket, channel) = bound.value
      channel.isReading = false
      if socket.isCurrent(channel) { socket.catchUp(channel) }
    }
  }

  /// The log is another one: the channel's position is compared with it. Rows without numbers may have come twice, or
  /// not at all.
  func readAgain(_ channel: JoinedChannel) {
    guard channel.phase != .joining else { return channel.hasMissedReplacement = true }
    channel.missed = 0
    channel.lastPosition = 0
    if channel.topic == nil { tellMissedRows(on: channel) } else if channel.phase == .live { catchUp(channel) }
  }

  /// With a number on a channel of numbers: what follows it comes.
  private func tellMissedRows(on channel: JoinedChannel) {
    guard isWritable else { return channel.hasMissedRows = true }
    channel.hasMissedRows = false
    guard channel.topic == nil else { return write(gapFrame(on: channel)) }
    send("broadcast", PhoenixPayload.broadcast("gap", "{}"), on: channel)
  }

  func becameWritable(_ channel: JoinedChannel) {
    if channel.phase == .catchingUp { catchUp(channel) }
    if channel.hasMissedRows { tellMissedRows(on: channel) }
    if channel.hasMissedPresence {
      channel.hasMissedPresence = false
      sendPresenceState(on: channel)
    }
  }

  // MARK: Rights

  func rightsChanged(_ change: AccessChange, on channel: JoinedChannel) {
    guard channel.phase != .joining else { return channel.accessChanges.append(change) }
    switch (channel.topic, change.mayRead) {
    case (.some(let topic), false) where topic.text == change.topic:
      services.metrics.refused(.rights)
      close(channel, because: noPermission(channel.shortName))
    case (.some(let topic), let mayRead) where topic.withFewerReaders?.text == change.topic:
      guard !channel.bindings.isEmpty else { return }
      mayRead ? hub.add(channel, to: change.topic) : hub.remove(channel, from: change.topic)
    case (.none, true): hub.add(channel, to: change.topic)
    case (.none, false): hub.remove(channel, from: change.topic)
    default: break
    }
  }
}
