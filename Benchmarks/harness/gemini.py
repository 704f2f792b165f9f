"""A stand-in for the Generative Language API, as a program of its own: answers each step of a scene at once.

    gemini.py PORT [--picture FILE] [--holds]

`--holds` makes it read requests and never answer them.
"""
import argparse, asyncio, base64, json, pathlib

SENTENCES = ("People stand close together before the gate, and more of them come up the road from the harbour. "
             "A rider has been seen between the hills. ")


def text(length):
    """About as long as a model writes where the prompt asks for so many sentences."""
    return (SENTENCES * length).strip()


def character(name):
    return {"name": name, "role": "a guard at the gate", "description": text(1), "clothing": "A grey cloak.",
            "personality": text(1), "speaking_style": "Plain.", "emotional_state": "Alert.", "dialog_context": text(1),
            "historical_note": "One of many.", "speaks_in_scene": True}


NAMES = ["Anna of the Gate", "Nikos", "Leon", "Zoe"]
# By a member that only the schema of this step has.
ANSWERS = {
    "is_moment": {"is_moment": True, "title": "The gate of Miletus, 44 BCE", "reason": ""},
    "historical_context": {
        "year": -44, "month": 3, "day": 15, "hour": None, "minute": None, "season": "spring", "time_of_day": "dawn",
        "era": "Late Republic", "location": "Miletus", "historical_context": text(3)},
    "lighting": {
        "setting": text(2), "atmosphere": "Quiet.", "weather": "Dry.", "lighting": "Low sun.", "sounds": ["hooves"],
        "smells": ["dust"], "objects": ["a spear", "a lamp", "a rope"]},
    "speaks_in_scene": {"characters": [character(name) for name in NAMES]},
    "relationships": {"relationships": [
        {"from": one, "to": other, "kind": "friend", "description": "They stand guard together."}
        for one, other in zip(NAMES, NAMES[1:])]},
    "emotional_beats": {"summary": text(2), "before": "Night.", "after": "War.", "stakes": "The city.",
                        "tension": "Who is it?", "emotional_beats": ["waiting", "doubt"]},
    "focal_point": {"shot": "wide shot", "angle": "eye level", "focal_point": "the rider", "composition": text(1)},
    "lines": {"lines": [{"speaker": name, "text": "A rider comes.", "tone": "loud", "action": "points"}
                        for name in NAMES]},
    "verified_facts": {"verified_facts": [text(1)] * 4, "assumptions": [text(1)] * 4, "confidence": 0.5},
    "style": {"prompt": text(3), "style": "painting"},
}


def response(parts):
    body = json.dumps({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "modelVersion": "gemini-of-the-benchmark", "usageMetadata": {"totalTokenCount": 1000}}).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Connection(asyncio.Protocol):
    """One connection, with one request after the other."""

    holds, picture = False, b""
    steps = {f'"{member}"'.encode(): response([{"text": json.dumps(answer)}]) for member, answer in ANSWERS.items()}

    def connection_made(self, transport):
        self.transport, self.received = transport, bytearray()

    def data_received(self, data):
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = bytes(self.received[:end]).lower()
            if head.startswith(b"get "):
                self.take(end + 4, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                continue
            length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
            if len(self.received) < end + 4 + length:
                return
            body = bytes(self.received[end + 4:end + 4 + length])
            self.take(end + 4 + length, None if self.holds else self.answer(body))

    def take(self, count, answer):
        del self.received[:count]
        if answer:
            self.transport.write(answer)

    def answer(self, body):
        if b'"responseModalities"' in body:
            return self.picture
        # The material of a step has its quotation marks escaped: only its schema has such a member.
        return next(answer for member, answer in self.steps.items() if member in body)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("--holds", action="store_true")
    options = parser.parse_args()
    Connection.holds = options.holds
    if options.picture:
        data = base64.b64encode(options.picture.read_bytes()).decode()
        Connection.picture = response([{"inlineData": {"mimeType": "image/png", "data": data}}])
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", options.port)
    await server.serve_forever()


asyncio.run(main())
