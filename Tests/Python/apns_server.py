"""An HTTP/2 server that takes notifications as APNs does, on another implementation of the protocol (h2), which refuses
whatever RFC 9113 does not allow.

Arguments: the folder with certificate.pem and key.pem, the PEM file of the public key, key id, team, topic, and how
many notifications end it. Prints the port, then each fault, and at last what came.
"""
import json
import re
import socket
import ssl
import sys
import threading

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
import jwt

folder, public_key, key_id, team, topic, goal = sys.argv[1:]
key = open(public_key).read()
lock = threading.Lock()
ids, tokens, faults, connections = set(), [], [], 0
finished = threading.Event()
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
FIELDS = {
    ":method", ":scheme", ":path", ":authority", "authorization", "apns-topic", "apns-push-type", "apns-priority",
    "apns-expiration", "apns-id", "apns-collapse-id", "content-length"}


def check(headers, body):
    """What is wrong with a request."""
    names = [name for name, _ in headers]
    fields = dict(headers)
    wrong = [f"{name} twice" for name in set(names) if names.count(name) > 1]
    wrong += [f"unexpected {name}" for name in names if name not in FIELDS]
    if fields.get(":method") != "POST" or fields.get(":scheme") != "https":
        wrong.append("method or scheme")
    if not re.fullmatch(r"/3/device/[0-9a-f]{64}", fields.get(":path", "")):
        wrong.append("path")
    if not fields.get(":authority", "").startswith("localhost"):
        wrong.append("authority")
    if not UUID.fullmatch(fields.get("apns-id", "")):
        wrong.append("apns-id")
    if fields.get("apns-topic") != topic:
        wrong.append("topic")
    if fields.get("apns-push-type") != "alert" or fields.get("apns-priority") != "10":
        wrong.append("type or priority")
    if not re.fullmatch(r"\d{10}", fields.get("apns-expiration", "")):
        wrong.append("expiration")
    if not 1 <= len(fields.get("apns-collapse-id", "").encode()) <= 64:
        wrong.append("collapse id")
    if fields.get("content-length", str(len(body))) != str(len(body)) or not 0 < len(body) <= 4096:
        wrong.append("length")
    scheme, _, token = fields.get("authorization", "").partition(" ")
    head = jwt.get_unverified_header(token)
    claims = jwt.decode(token, key, algorithms=["ES256"], options={"require": ["iss", "iat"], "verify_iat": False})
    if scheme != "bearer" or head.get("kid") != key_id or claims["iss"] != team or set(claims) != {"iss", "iat"}:
        wrong.append("provider token")
    aps = json.loads(body)["aps"]
    if not aps["alert"]["body"] or aps["badge"] < 1 or aps["sound"] != "default" or not aps["thread-id"]:
        wrong.append("payload")
    return wrong


class Connection:
    def __init__(self, plain, context):
        self.socket = context.wrap_socket(plain, server_side=True)
        if self.socket.selected_alpn_protocol() != "h2" or self.socket.version() not in ("TLSv1.2", "TLSv1.3"):
            faults.append(f"{self.socket.version()} {self.socket.selected_alpn_protocol()}")
        config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
        self.h2 = h2.connection.H2Connection(config)
        self.h2.local_settings = h2.settings.Settings(
            client=False, initial_values={h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 1})
        self.requests, self.is_open, self.has_ended = {}, False, False

    def serve(self):
        self.h2.initiate_connection()
        self.socket.sendall(self.h2.data_to_send())
        try:
            while data := self.socket.recv(65_536):
                for event in self.h2.receive_data(data):
                    if not self.has_ended:
                        self.take(event)
                self.socket.sendall(self.h2.data_to_send())
                if self.has_ended:
                    return self.socket.close()
        except (OSError, h2.exceptions.ProtocolError) as error:
            if not finished.is_set():
                faults.append(repr(error))

    def take(self, event):
        if isinstance(event, h2.events.RequestReceived):
            self.requests[event.stream_id] = (event.headers, b"")
            if not self.is_open and len(self.requests) > 1:
                faults.append("more than one stream before the first answer")
        elif isinstance(event, h2.events.DataReceived):
            headers, body = self.requests[event.stream_id]
            self.requests[event.stream_id] = (headers, body + event.data)
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            self.answer(event.stream_id, *self.requests.pop(event.stream_id))

    def answer(self, stream, headers, body):
        fields = dict(headers)
        with lock:
            try:
                faults.extend(check(headers, body))
            except Exception as error:
                faults.append(repr(error))
            is_new = fields["apns-id"] not in ids
            ids.add(fields["apns-id"])
            if is_new:
                tokens.append(fields[":path"].rpartition("/")[2])
            count = len(tokens)
        self.h2.send_headers(stream, [(":status", "200"), ("apns-id", fields["apns-id"])], end_stream=True)
        if not self.is_open:
            self.is_open = True
            self.h2.update_settings({h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 100})
        if is_new and count == int(goal) // 2:
            self.h2.close_connection(last_stream_id=stream, additional_data=b'{"reason":"Shutdown"}')
            self.has_ended = True
        if count == int(goal):
            finished.set()


def main():
    global connections
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/certificate.pem", f"{folder}/key.pem")
    context.set_alpn_protocols(["h2"])
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    def accept():
        global connections
        while True:
            plain, _ = listener.accept()
            connections += 1
            threading.Thread(target=Connection(plain, context).serve, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    finished.wait(120)
    for fault in faults:
        print("fault:", fault)
    print(f"{len(tokens)} notifications for {len(set(tokens))} devices")
    print("connections:", "several" if connections > 1 else "one", flush=True)


main()
