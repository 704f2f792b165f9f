# Joins, broadcasts, presence, row changes, a token refresh and a reconnect with Supabase's own Python client.
# Arguments: the URL that apps use, that of the events service, a service key, a list, Alice's token and a newer one,
# Bob's token, a stranger's token.
import asyncio
import json
import sys
import urllib.request
import uuid
from datetime import datetime, timezone

from realtime import AsyncRealtimeClient

base, internal, key, number_of_list, alice_token, newer_token, bob_token, stranger_token = sys.argv[1:9]
LIST = f"lists:{number_of_list}"


def deliver(number, change=None):
    event = {
        "id": str(uuid.uuid4()),
        "topics": [LIST],
        "name": "task_changed",
        "payload": {"number": number},
        "at": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    if change:
        event["change"] = change
    request = urllib.request.Request(
        internal + "/internal/events",
        json.dumps({"events": [event]}).encode(),
        {"content-type": "application/json", "x-service-key": key},
    )
    with urllib.request.urlopen(request) as response:
        assert response.status == 200


async def until(what, condition, seconds=30):
    for _ in range(seconds * 50):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{what} did not come")


def options(name):
    return {
        "config": {
            "broadcast": {"ack": False, "self": False},
            "presence": {"key": name, "enabled": True},
            "private": True,
        }
    }


async def main():
    broadcasts, changes, states = [], [], []
    client = AsyncRealtimeClient(base + "/realtime/v1", token=alice_token)
    channel = client.channel(LIST, options("alice"))
    channel.on_broadcast("*", broadcasts.append)
    for event in ("task_changed", "typing", "by_http"):
        channel.on_broadcast(event, broadcasts.append)
    channel.on_postgres_changes(
        "INSERT", changes.append, table="tasks", schema="public", filter=f"list_id=eq.{number_of_list}"
    )
    channel.on_presence_sync(lambda: None)
    await channel.subscribe(lambda state, error: states.append(state))
    assert states and states[-1].value == "SUBSCRIBED", states
    print("joined")

    refused = []
    stranger = AsyncRealtimeClient(base + "/realtime/v1", token=stranger_token)
    theirs = stranger.channel(LIST, options("stranger"))
    await theirs.subscribe(lambda state, error: refused.append(state))
    assert refused[-1].value == "CHANNEL_ERROR", refused
    await stranger.close()
    print("refused")

    def names():
        return [broadcast["event"] for broadcast in broadcasts]

    deliver(1)
    await until("the event", lambda: "task_changed" in names())
    print("broadcast of the feed")

    for row in ({"id": 1, "list_id": 0}, {"id": 2, "list_id": int(number_of_list)}):
        deliver(2, {"schema": "public", "table": "tasks", "type": "INSERT", "record": row})
    await until("the row", lambda: changes)
    assert [change["data"]["record"] for change in changes] == [row], changes
    print("postgres_changes")

    bob = AsyncRealtimeClient(base + "/realtime/v1", token=bob_token)
    his = bob.channel(LIST, options("bob"))
    his.on_presence_sync(lambda: None)
    await his.subscribe()
    await his.send_broadcast("typing", {"task_id": 7})
    await until("the broadcast", lambda: "typing" in names())
    print("broadcast of a client")

    await his.track({"mood": "fine"})
    await until("bob", lambda: "bob" in channel.presence_state())
    assert channel.presence_state()["bob"][0]["mood"] == "fine"
    await his.untrack()
    await until("bob's leave", lambda: "bob" not in channel.presence_state())
    print("presence")

    await his.http_send("by_http", {"x": 1})
    await until("the broadcast by HTTP", lambda: "by_http" in names())
    print("broadcast by HTTP")

    await client.set_auth(newer_token)
    before = len(broadcasts)
    deliver(3)
    await until("an event after the refresh", lambda: len(broadcasts) > before)
    print("token refreshed")

    joined = len(states)
    client._ws_connection.transport.abort()
    await until("the rejoin", lambda: len(states) > joined and states[-1].value == "SUBSCRIBED")
    before = len(broadcasts)
    deliver(4)
    await until("an event after the reconnect", lambda: len(broadcasts) > before)
    print("reconnected")

    # A token whose signature is not ours ends the channel of who sends it, and nobody else's.
    assert his.is_joined
    await bob.set_auth(bob_token.rsplit(".", 1)[0] + ".AAAA")
    await until("the end of bob's channel", lambda: not his.is_joined)
    before = len(broadcasts)
    deliver(5)
    await until("an event after the refusal", lambda: len(broadcasts) > before)
    print("invalid token refused")

    await channel.unsubscribe()
    await until("the leave", lambda: channel.is_closed)
    await bob.close()
    await client.close()
    print("left")


asyncio.run(main())
