import NIOCore
import NIOPosix

extension Channel {
  /// Lets no connection to this listening socket begin, and returns once the server has accepted those that had begun;
  /// after a second at the latest. Without this, closing the socket resets the ones that wait to be accepted, though
  /// their clients may have sent a request on them: a busy server has dozens.
  ///
  /// New clients are not refused before the socket is closed: the kernel drops their first packet, which they repeat
  /// after a second (RFC 6298 §2.1). Where the system has no socket filters, connections that begin meanwhile may still
  /// be reset.
  package func emptyAcceptQueue() async {
    #if os(Linux)
      await acceptAll()
    #endif
    await MultiThreadedEventLoopGroup.singleton.waitForAcceptedConnections()
  }

  #if os(Linux)
    private func acceptAll() async {
      guard let options = self as? any SocketOptionProvider else { return }
      let filter = options.unsafeSetSocketOption(
        level: .socket, name: .init(rawValue: SO_ATTACH_FILTER), value: SocketFilter.withoutNewConnections)
      // `try?`: a sandbox may forbid it, and a channel that is closed has no queue.
      guard (try? await filter.get()) != nil else { return }
      let end = ContinuousClock.now + .seconds(1)
      repeat {
        // First for handshakes that had begun: longer than their last packet takes.
        // `try?`: cancelled, the server ends at once.
        guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { return }
        // Of a listening socket, Linux gives the length of the accept queue here (tcp_get_info in net/ipv4/tcp.c).
        guard let length = (try? await options.getTCPInfo().get())?.tcpi_unacked, length > 0 else { return }
      } while ContinuousClock.now < end
    }
  #endif
}

extension EventLoopGroup {
  /// Returns once connections that have been accepted are active. Each goes four times from one loop to another until
  /// then, and is closed when it finds on its way that the listening socket is closed.
  func waitForAcceptedConnections() async {
    for _ in 0..<4 {
      // `try?`: a loop that has shut down has no connections.
      for loop in makeIterator() { try? await loop.submit {}.get() }
    }
  }
}

#if os(Linux)
  /// `struct sock_fprog` of linux/filter.h: a program in the language of BPF that decides about each packet of a socket.
  /// `@unchecked`: nobody writes to the memory that it points to.
  private struct SocketFilter: @unchecked Sendable {
    /// `struct sock_filter`.
    private struct Instruction {
      var code: UInt16
      var ifTrue: UInt8 = 0
      var ifFalse: UInt8 = 0
      var operand: UInt32
    }

    private let count: UInt16
    private let instructions: UnsafePointer<Instruction>

    /// Drops the packets that ask for a new connection: of the flags SYN and ACK they have only SYN (RFC 9293 §3.1). The
    /// filter of a TCP socket sees packets from their TCP header on.
    static let withoutNewConnections = SocketFilter([
      Instruction(code: 0x30, operand: 13),  // load the byte of the flags
      Instruction(code: 0x54, operand: 0x12),  // and SYN | ACK
      Instruction(code: 0x15, ifFalse: 1, operand: 0x02),  // is it SYN?
      Instruction(code: 0x06, operand: 0),  // drop all of it
      Instruction(code: 0x06, operand: .max),  // keep all of it
    ])

    /// The kernel copies the program when it is attached. Only constants are made of this, which stay in memory.
    private init(_ program: [Instruction]) {
      count = UInt16(program.count)
      let memory = UnsafeMutableBufferPointer<Instruction>.allocate(capacity: program.count)
      _ = memory.initialize(from: program)
      instructions = UnsafePointer(memory.baseAddress!)
    }
  }
#endif
