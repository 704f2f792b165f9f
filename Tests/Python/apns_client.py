"""Sends notifications with aioapns, which others use against Apple's servers, to the stand-in for APNs.

Arguments: port, certificate, key, key id, team, topic, a device token that is valid, one that is gone. Prints a line
for each outcome.
"""
import asyncio
import logging
import ssl
import sys
import uuid

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol

# It says how full its one connection is.
logging.getLogger("aioapns").setLevel(logging.CRITICAL)
port, certificate, key, key_id, team, topic, valid, gone = sys.argv[1:]
APNsProductionClientProtocol.APNS_SERVER = "localhost"
APNsProductionClientProtocol.APNS_PORT = int(port)


def alert(token=valid, **fields):
    message = {"aps": {"alert": {"body": "Hello"}, "badge": 1, "sound": "default"}}
    fields = {"push_type": PushType.ALERT, "priority": 10, "time_to_live": 60} | fields
    return NotificationRequest(device_token=token, message=fields.pop("message", message), **fields)


async def main():
    client = APNs(
        key=open(key).read(), key_id=key_id, team_id=team, topic=topic, max_connections=1,
        ssl_context=ssl.create_default_context(cafile=certificate))

    async def send(what, request):
        result = await client.send_notification(request)
        print(what, result.status, result.description or "", "timestamp" if result.timestamp else "", sep=" | ")

    await send("first", alert())
    results = await asyncio.gather(*(client.send_notification(alert()) for _ in range(50)))
    print("together", sum(result.is_successful for result in results))
    background = {"aps": {"content-available": 1}}
    silent = {"push_type": PushType.BACKGROUND, "priority": 5, "message": background}
    await send("background", alert(**silent))
    await send("background now", alert(**silent | {"priority": 10}))
    await send("background that shows", alert(push_type=PushType.BACKGROUND, priority=5))
    await send("collapsed", alert(collapse_key="x" * 64))
    await send("collapsed too long", alert(collapse_key="x" * 65))
    await send("another topic", alert(apns_topic="com.example.other"))
    await send("no token", alert(token="zz"))
    await send("gone", alert(token=gone))
    await send("too large", alert(message={"aps": {"alert": "x" * 5000}}))
    again = alert(notification_id=str(uuid.uuid4()))
    await send("once", again)
    await send("twice", again)


asyncio.run(main())
