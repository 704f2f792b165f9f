#!/usr/bin/env python3
"""Receives spans by OTLP/HTTP on port 4318 and sends them on to COLLECTOR_EXPORT. Without one it prints them: a line
with the service and the id of the trace for each.
"""
import gzip
import http.server
import json
import os
import re
import urllib.request

EXPORT = os.environ.get("COLLECTOR_EXPORT")


def spans(body, kind):
    if kind == "application/json":
        for resource in json.loads(body)["resourceSpans"]:
            attributes = {each["key"]: each["value"] for each in resource["resource"]["attributes"]}
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    yield attributes["service.name"]["stringValue"], span["traceId"]
    elif kind == "application/x-protobuf":
        # The name of a service precedes its spans, and a span begins with ids of 16 and 8 bytes.
        for part in body.split(b"service.name")[1:]:
            for trace in re.findall(rb"\n\x10(.{16})\x12\x08", part, re.DOTALL):
                yield re.search(rb"kith[a-z-]*", part).group().decode(), trace.hex()
    else:
        raise ValueError(f"spans of the type {kind}")


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body, status = self.rfile.read(int(self.headers["Content-Length"])), 200
        if self.path != "/v1/traces":
            status = 404
        elif EXPORT:
            # Names of fields may be written in any case, and `get` finds them in each.
            sent_on = {name: self.headers.get(name) for name in ("Content-Type", "Content-Encoding")}
            headers = {name: value for name, value in sent_on.items() if value is not None}
            urllib.request.urlopen(urllib.request.Request(EXPORT + self.path, body, headers), timeout=10).close()
        else:
            whole = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            for service, trace in spans(whole, self.headers.get("Content-Type")):
                print(service, trace)
        self.send_response(status)
        self.send_header("Content-Type", self.headers.get("Content-Type"))
        self.end_headers()
        self.wfile.write(b"{}" if "json" in self.headers.get("Content-Type") else b"")

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("", 4318), Collector).serve_forever()
