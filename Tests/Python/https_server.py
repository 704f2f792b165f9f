"""An HTTPS server that refuses every request, as a provider does without a key.

Argument: a folder with certificate.pem and key.pem. Prints its port.
"""
import http.server
import ssl
import sys


class Refusal(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusal)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(f"{sys.argv[1]}/certificate.pem", f"{sys.argv[1]}/key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
