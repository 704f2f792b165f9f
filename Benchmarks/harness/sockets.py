"""WebSocket clients, many in one process: an epoll loop that opens them, and counts what they receive."""
import base64, json, os, selectors, socket, struct, time

from harness.machine import fail

HEAD_END = b"\r\n\r\n"
AT_ONCE = 100
TIMEOUT_SECONDS = 60
KEEP_ALIVE_SECONDS = 20
PONG = bytes([0x8A, 0x80, 0, 0, 0, 0])


def text_frame(text):
    """A masked text frame (RFC 6455 §5.2)."""
    payload, mask = text.encode(), os.urandom(4)
    length = len(payload)
    head = struct.pack(">BB", 0x81, 0x80 | length) if length < 126 else struct.pack(">BBH", 0x81, 0xFE, length)
    return head + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))


class Client:
    """One WebSocket."""

    def __init__(self, port, path, headers):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_SECONDS)
        self.received, self.count, self.last_at = b"", 0, None
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", "Host: bench", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.socket.sendall("\r\n".join(lines).encode() + HEAD_END)

    def read_until(self, text):
        """Reads until `text` has come, and returns everything before its end."""
        while text not in self.received:
            piece = self.socket.recv(65536)
            if not piece:
                fail(f"a WebSocket was closed: {self.received[:500]}")
            self.received += piece
        end = self.received.index(text) + len(text)
        head, self.received = self.received[:end], self.received[end:]
        return head

    def take(self, marker):
        """Reads what is there, and counts how often `marker` occurs in it."""
        piece = self.socket.recv(1 << 18)
        if not piece:
            fail(f"a WebSocket was closed: {self.received[:500]}")
        data = self.received + piece
        found = data.count(marker)
        # The beginning of a marker may be the end of what was read.
        self.received = data[len(data) - len(marker) + 1:]
        if found:
            self.count += found
            self.last_at = time.monotonic()
        return found


class Clients:
    """Many WebSockets. Closes them at its end: `with Clients(…) as clients`."""

    def __init__(self, ports, path, count, headers=None, join=None):
        """
        They are connected to the ports in turn. `join` makes the message by which the client of a number joins its
        topic, which is confirmed by `"status":"ok"`.
        """
        self.all, self.kept_alive_at = [], time.monotonic()
        for start in range(0, count, AT_ONCE):
            wave = [Client(ports[number % len(ports)], path, headers or {})
                    for number in range(start, min(start + AT_ONCE, count))]
            for number, client in enumerate(wave, start):
                head = client.read_until(HEAD_END)
                if not head.startswith(b"HTTP/1.1 101 "):
                    fail(f"a WebSocket was refused: {head[:500]}")
                if join:
                    client.socket.sendall(text_frame(json.dumps(join(number))))
            if join:
                for client in wave:
                    client.read_until(b'"status":"ok"')
            self.all += wave
            self.keep_alive()
        self.selector = selectors.DefaultSelector()
        for client in self.all:
            client.socket.setblocking(False)
            self.selector.register(client.socket, selectors.EVENT_READ, client)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.selector.close()
        for client in self.all:
            client.socket.close()

    def keep_alive(self):
        """Sends a Pong, which needs no Ping (RFC 6455 §5.5.3): opening many takes longer than one may be silent."""
        if time.monotonic() - self.kept_alive_at > KEEP_ALIVE_SECONDS:
            for client in self.all:
                client.socket.sendall(PONG)
            self.kept_alive_at = time.monotonic()

    def drop_pending(self, seconds):
        """Reads what comes within some seconds, such as the rest of what follows a join."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            for key, _ in self.selector.select(left):
                key.data.take(b"\0")
                key.data.received = b""

    def receive(self, marker, count):
        """Reads until all clients together have received `marker` that often, and returns when the last one came."""
        found, end = 0, time.monotonic() + TIMEOUT_SECONDS
        while found < count:
            ready = self.selector.select(1)
            for key, _ in ready:
                found += key.data.take(marker)
            if not ready and time.monotonic() > end:
                fail(f"only {found:,} of {count:,} messages came")
        return time.monotonic()
