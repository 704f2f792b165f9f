import Foundation
import NIOCore
import Wire

/// The sockets of one event loop, and their channels by topic. Lives on that event loop.
final class LoopHub {
  private var channels: [String: [ObjectIdentifier: JoinedChannel]] = [:]
  /// The channels that are no topics, by user.
  private var userChannels: [UserID: [ObjectIdentifier: JoinedChannel]] = [:]
  private var sockets: [ObjectIdentifier: Socket] = [:]
  /// Those to which events were written that are not sent yet.
  private var unflushed: [Socket] = []
  private let live: LiveTopics

  init(live: LiveTopics) { self.live = live }

  func add(_ socket: Socket) { sockets[ObjectIdentifier(socket)] = socket }
  func remove(_ socket: Socket) { sockets[ObjectIdentifier(socket)] = nil }

  func flushLater(_ socket: Socket) { unflushed.append(socket) }

  func add(_ channel: JoinedChannel, of user: UserID) {
    if let topic = channel.topic {
      let known = channels[topic.text, default: [:]].updateValue(channel, forKey: ObjectIdentifier(channel))
      if known == nil { live.open(topic.text, by: user) }
    } else {
      userChannels[user, default: [:]][ObjectIdentifier(channel)] = channel
    }
  }

  func add(_ channel: JoinedChannel, to topic: String) {
    guard channel.topics.insert(topic).inserted else { return }
    channels[topic, default: [:]][ObjectIdentifier(channel)] = channel
  }

  func remove(_ channel: JoinedChannel, from topic: String) {
    channel.topics.remove(topic)
    channels[topic]?[ObjectIdentifier(channel)] = nil
    if channels[topic]?.isEmpty == true { channels[topic] = nil }
  }

  func remove(_ channel: JoinedChannel) {
    for topic in channel.topics { remove(channel, from: topic) }
    if let topic = channel.topic {
      if let user = channel.credential?.user, channels[topic.text]?[ObjectIdentifier(channel)] != nil {
        live.close(topic.text, by: user)
      }
      remove(channel, from: topic.text)
    }
    guard let user = channel.credential?.user, channel.topic == nil else { return }
    userChannels[user]?[ObjectIdentifier(channel)] = nil
    if userChannels[user]?.isEmpty == true { userChannels[user] = nil }
  }

  /// Delivers events, in their order: what a socket gets of them is sent with one system call.
  func deliver(_ runs: [FeedRun]) {
    for run in runs {
      if let (topic, numbers) = run.shared {
        deliver(run, of: topic, numbers)
      } else {
        for (event, frames) in run.events { deliver(event, frames) }
      }
    }
    let written = unflushed
    unflushed = []
    for socket in written { socket.flushDelivered() }
  }

  private func deliver(_ run: FeedRun, of topic: String, _ numbers: ClosedRange<Int>) {
    for channel in all(of: topic) {
      if !channel.topics.contains(topic), channel.socket.deliver(run, numbers, on: channel) { continue }
      for (seq, (event, frames)) in zip(numbers, run.events) {
        channel.socket.deliver(frames, of: topic, seq: seq, at: event.position, on: channel)
      }
    }
  }

  private func deliver(_ event: AppendedEvent, _ frames: FeedFrames) {
    for change in event.access where !change.isEnd { apply(change) }
    for number in event.numbers {
      for channel in all(of: number.topic) {
        channel.socket.deliver(frames, of: number.topic, seq: number.seq, at: event.position, on: channel)
      }
    }
    for change in event.access where change.isEnd { apply(change) }
  }

  func deliver(_ message: ConversationMessage) {
    for channel in all(of: message.topic) where channel.topic != nil { channel.socket.deliver(message, on: channel) }
  }

  /// The log is another one.
  func readAgain() {
    for socket in Array(sockets.values) {
      for channel in Array(socket.channels.values) { socket.readAgain(channel) }
    }
  }

  private func apply(_ change: AccessChange) {
    let topics = [change.topic] + (TopicName(change.topic)?.withMoreReaders.map { [$0.text] } ?? [])
    for channel in topics.flatMap(all)
    where channel.topic != nil && channel.credential.map({ change.concerns($0.user) }) ?? false {
      channel.socket.rightsChanged(change, on: channel)
    }
    let others = change.isEnd ? userChannels.values.flatMap(\.values) : Array((userChannels[change.user] ?? [:]).values)
    for channel in others { channel.socket.rightsChanged(change, on: channel) }
  }

  private func all(of topic: String) -> [JoinedChannel] { channels[topic].map { Array($0.values) } ?? [] }

  /// Ends what is no longer valid, and pings.
  func sweep(at now: NIODeadline, date: Date) {
    for socket in Array(sockets.values) { socket.sweep(at: now, date: date) }
  }
}
