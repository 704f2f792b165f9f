import DequeModule
import NIOCore

/// One connection to Redis, from the greeting to its end. Questions go out one after the other without waiting, and
/// answers come in their order.
final class RedisConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// What has to be answered before the first question.
  private enum Greeting { case auth, select, load, probe }

  private let link: RedisLink
  private var context: ChannelHandlerContext?
  private var greetings: Deque<Greeting> = []
  private var script: RedisScript?
  private(set) var isReady = false
  private var hasEnded = false
  private var reader = RESPReader()
  private var waiting: Deque<RedisQuestion> = []
  private var out = ByteBuffer()
  private var flushIsDue = false
  private var isWatching = false
  private static let waitingMax = 10_000
  private static let greetFor = TimeAmount.seconds(1)
  /// Between the look that finds an answer missing and the one that believes it: when it is this event loop that had no
  /// time, the answer lies in the socket and is read in between.
  private static let lookAgainAfter = TimeAmount.milliseconds(5)

  init(of link: RedisLink) { self.link = link }

  /// The answer, or nil for none, goes to the link.
  ///
  /// - Returns: false when nothing can be asked now.
  func ask(_ question: RedisQuestion) -> Bool {
    guard isReady, waiting.count < Self.waitingMax, let script else { return false }
    var question = question
    question.due = .now() + link.patience - Self.lookAgainAfter
    script.write(question.key, question.quota, to: &out)
    send(question)
    return true
  }

  /// What is asked in one turn of the event loop goes out as one.
  private func send(_ question: RedisQuestion) {
    waiting.append(question)
    watch()
    guard !flushIsDue else { return }
    flushIsDue = true
    link.loop.assumeIsolated().execute { [self] in
      flushIsDue = false
      flush()
    }
  }

  private func flush() {
    context?.writeAndFlush(wrapOutboundOut(out), promise: nil)
    out.clear()
  }

  // MARK: Channel

  func handlerAdded(context: ChannelHandlerContext) {
    guard !hasEnded else { return context.close(promise: nil) }
    self.context = context
    guard context.channel.isActive else { return end("the connection was closed") }
    greet()
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  private func greet() {
    if let password = link.url.password {
      greetings.append(.auth)
      if let user = link.url.user {
        out.writeCommand("AUTH", user, password)
      } else {
        out.writeCommand("AUTH", password)
      }
    }
    if link.url.database != 0 {
      greetings.append(.select)
      out.writeCommand("SELECT", String(link.url.database))
    }
    greetings.append(.load)
    out.writeCommand("SCRIPT", "LOAD", RedisScript.text)
    flush()
    link.loop.assumeIsolated().scheduleTask(in: Self.greetFor) { [self] in
      if !isReady { end("no greeting within \(Self.greetFor.seconds) s") }
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    reader.add(unwrapInboundIn(data))
    do {
      while !hasEnded, let reply = try reader.next() { take(reply) }
    } catch {
      end("its answer is malformed")
    }
  }

  func channelInactive(context: ChannelHandlerContext) { broke("the connection was closed") }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { broke("\(error)") }

  /// A connection that nobody uses may be closed: whether Redis is away, the next one will show.
  private func broke(_ reason: String) { end(reason, isFault: !isReady || !waiting.isEmpty) }

  // MARK: Answers

  private func take(_ reply: RESP) {
    guard isReady else { return greeted(reply) }
    guard let question = waiting.first else { return end("it answered what nobody asked") }
    if case .error(let words) = reply, words.hasPrefix("NOSCRIPT"), !question.isRepeated {
      return askWithScript(waiting.removeFirst())
    }
    guard let answer = RedisAnswer(reply, question.quota) else { return end(Self.words(reply)) }
    waiting.removeFirst()
    link.answered(question, answer)
  }

  private func askWithScript(_ question: RedisQuestion) {
    var question = question
    question.isRepeated = true
    script?.write(question.key, question.quota, byName: false, to: &out)
    send(question)
  }

  private func greeted(_ reply: RESP) {
    switch (greetings.popFirst(), reply) {
    case (.auth, .simple("OK")), (.select, .simple("OK")): break
    case (.load, .bulk(let sha1)):
      script = RedisScript(sha1: sha1)
      guard let script else { return end("its answer is malformed") }
      greetings.append(.probe)
      script.writeProbe(to: &out)
      flush()
    case (.probe, .array):
      isReady = true
      link.ready(self)
    case (.auth, .error(let words)): end(Self.refusalWords(words))
    case (_, let reply): end(Self.words(reply))
    }
  }

  /// Some errors repeat the command, and this one has the password in it.
  private static func refusalWords(_ words: String) -> String {
    let code = ["WRONGPASS", "NOPERM", "LOADING", "ERR"].first { words.hasPrefix($0 + " ") }
    return "\(code ?? "an error") to user and password"
  }

  private static func words(_ reply: RESP) -> String {
    guard case .error(let words) = reply else { return "its answer is not what was asked for" }
    return String(words.prefix(200))
  }

  // MARK: Ends

  /// One timer for all that waits: the first is due first.
  private func watch() {
    guard !isWatching, let first = waiting.first else { return }
    isWatching = true
    let loop = link.loop.assumeIsolated()
    loop.scheduleTask(deadline: first.due) { [self] in
      guard let first = waiting.first, first.due <= .now() else {
        isWatching = false
        return watch()
      }
      loop.scheduleTask(in: Self.lookAgainAfter) { [self] in
        isWatching = false
        guard let first = waiting.first, first.due <= .now() else { return watch() }
        end("no answer within \(link.patience.milliseconds) ms")
      }
    }
  }

  /// Everything that still waits is answered with nil.
  func end(_ reason: String, isFault: Bool = true) {
    guard !hasEnded else { return }
    hasEnded = true
    isReady = false
    let unanswered = waiting
    waiting.removeAll()
    context?.close(promise: nil)
    link.ended(self, reason, isFault: isFault)
    for question in unanswered { link.answered(question, nil) }
  }
}

extension TimeAmount {
  fileprivate var seconds: Int64 { nanoseconds / 1_000_000_000 }
  fileprivate var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
