"""Requests for each second of CPU time, of Kith through its gateway and of a FastAPI server with the same routes."""
import hashlib, json, shutil, subprocess

from harness import data
from harness.machine import BENCHMARKS, ROOT, available_cores, fail, free_port, placements, prepare
from harness.postgres import CONNECTIONS
from harness.report import Goal, Values
from harness.services import USERS, session_id, user_id
from harness.tokens import access_token
from harness.wrk import load

ROUTES = {"me": ("auth", "/api/v1/auth/me"), "balance": ("credits", "/api/v1/credits/balance")}
WARM_UP = 1


def fastapi(bench):
    """Requests for each second of CPU time, of Kith through its gateway and of a FastAPI server"""
    prepare("python3-venv")
    postgres = bench.database(data.insert_accounts, data.insert_credits)
    placement = placements()[0]
    sockets = {"SOCKET_DIR": bench.folder / "sockets"}
    sockets["SOCKET_DIR"].mkdir()
    users = bench.kith.users_file(f"users-{USERS}", range(1, USERS + 1))
    for is_logging in (True, False):
        server = start_fastapi(bench, postgres, is_logging)
        # They listen on ports, too.
        services = {"auth": bench.start("kith-auth", postgres, is_logging, environment=sockets)}
        services["credits"] = bench.start("kith-credits", postgres, is_logging, environment=sockets)
        gateway = bench.start("kith-gateway", is_logging=is_logging, peers=services.values())
        over_sockets = bench.start("kith-gateway", is_logging=is_logging, environment=sockets)
        one = bench.start("kith", postgres, is_logging)
        for route, (name, path) in ROUTES.items():
            programs = {
                "Kith": (gateway, [gateway, services[name]]),
                "Kith over Unix sockets": (over_sockets, [over_sockets, services[name]]),
                "Kith in one process": (one, [one]), "FastAPI": (server, [server])}
            for what in list(programs)[:-1]:
                verify(bench, path, server, programs[what][0])
            results = {what: [] for what in programs}
            for _ in range(bench.rounds):
                for what, (program, watched) in programs.items():
                    for seconds in (WARM_UP, bench.seconds):
                        result = load(program, "gateway/load.lua", seconds, core=placement.others, watched=watched,
                                      variables={"USERS": users, "PATH_OF_REQUESTS": path})
                    results[what].append(result)
            show(bench, route, is_logging, results)
        bench.stop(one, over_sockets, gateway, services["credits"], services["auth"], server)


def show(bench, route, is_logging, results):
    costs = {what: [sum(one.cpu.values()) for one in loads] for what, loads in results.items()}
    for what in list(results)[:-1]:
        figures = "; ".join(
            f"{name} {Values(costs[name]).median:,.0f} µs, {Values([one.rate for one in results[name]]).median:,.0f}/s"
            for name in (what, "FastAPI"))
        bench.report.add(
            "fastapi", f"requests for each second of CPU time, {what} : FastAPI, {route}",
            placements()[0].name + ("" if is_logging else ", without log"),
            Values([theirs / ours for theirs, ours in zip(costs["FastAPI"], costs[what])], 1),
            Goal("≥", 30) if is_logging else None, figures)


def start_fastapi(bench, postgres, is_logging):
    """As many workers as there are cores, which share as many connections as a service has."""
    port, workers = free_port(), len(available_cores())
    environment = {
        "DATABASE_URL": postgres.url.replace("postgresql:", "postgresql+asyncpg:"),
        "DATABASE_CONNECTIONS": max(1, CONNECTIONS // workers), "JWT_SECRET_KEY": bench.kith.jwt_secret,
        "LOG_LEVEL": "INFO" if is_logging else "WARNING", "PYTHONDONTWRITEBYTECODE": 1,
    }
    command = [
        python(), "-m", "uvicorn", "app:app", "--app-dir", BENCHMARKS / "fastapi", "--port", port,
        # Its access log is replaced by the app's own lines.
        "--workers", workers, "--loop", "uvloop", "--http", "httptools", "--no-access-log"]
    server = bench.launch("fastapi", command, port=port, environment=environment)
    server.wait("/health")
    return server


def python():
    """A Python with the packages of requirements.txt, which are downloaded once."""
    requirements = BENCHMARKS / "fastapi/requirements.txt"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    folder = ROOT / ".build/benchmark-python"
    stamp = folder / "requirements"
    if not stamp.exists() or stamp.read_text() != digest:
        print("Installing FastAPI from PyPI …", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        for command in (["python3", "-m", "venv", folder],
                        [folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements]):
            if subprocess.run(command).returncode:
                fail("FastAPI could not be installed from PyPI")
        stamp.write_text(digest)
    return folder / "bin/python"


def verify(bench, path, server, gateway):
    """Both must give the same response, and refuse a forged token."""
    user, session = user_id(1), session_id(1)
    token = access_token(bench.kith.jwt_secret, user, session)
    forged = access_token(bench.kith.jwt_secret, user, session, signed_with="x" * 32)
    bodies = []
    for program in (server, gateway):
        status, body = program.request("GET", path, {"Authorization": f"Bearer {token}"})
        program.expect(f"GET {path}", 200, status)
        bodies.append({name: value for name, value in json.loads(body).items() if name != "created_at"})
        status, _ = program.request("GET", path, {"Authorization": f"Bearer {forged}"})
        program.expect(f"GET {path} with a forged token", 401, status)
    server.expect(f"the body of GET {path}", bodies[1], bodies[0])
