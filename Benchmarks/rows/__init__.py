"""The rows of the benchmark by name, in the order in which they are measured."""
from rows import (
    databases, events, fastapi, gateway, history, photos, processes, push, scenes, sockets, sqlite)

ROWS = {
    "lists-cold": databases.lists_changing,
    "lists-warm": databases.lists_recent,
    "task": databases.task,
    "balance": databases.balance,
    "spend": databases.spend,
    "spend-keyed": databases.spend_keyed,
    "hold": databases.hold,
    "refresh": databases.refresh,
    "plans": databases.plans,
    "place": databases.place,
    "events-cost": events.cost,
    "push": push.push,
    "gateway": gateway.gateway,
    "kith": processes.kith,
    "footprint": processes.footprint,
    "apart": processes.apart,
    "history": history.history,
    "balance-size": history.balance_of_many,
    "fastapi": fastapi.fastapi,
    "in-process": processes.in_process,
    "sqlite": sqlite.sqlite,
    "links": photos.links,
    "photos": photos.photos,
    "proxies": gateway.proxies,
    "scenes": scenes.scenes,
    "scene-streams": scenes.scene_streams,
    "scene-pictures": scenes.scene_pictures,
    "socket-memory": sockets.socket_memory,
    "fan-out": sockets.fan_out,
}

# All rows of the table, in its order. `Benchmarks/compose` writes those of `compose`.
NAMES = list(ROWS)
NAMES.insert(NAMES.index("apart") + 1, "compose")
