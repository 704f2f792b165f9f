"""Photos: uploads against vipsthumbnail doing the same work, and downloads by a link against nginx."""
import getpass, json, queue, subprocess, threading, time

from harness.machine import ENVIRONMENT, available_cores, fail, free_port, placements, prepare
from harness.report import Goal, Values
from harness.wrk import load

PHOTOS = 200
GROUPS_OF_A_MEMBER = 5
JPEG = {"Content-Type": "image/jpeg"}
JSON = {"Content-Type": "application/json"}
# Twelve megapixels of soft shapes under a little noise, about 3 MB as a phone would write it.
MAKE_PHOTO = """
vips perlin shapes.v 4032 3024 --cell-size 300
vips gaussnoise noise.v 4032 3024 --sigma 6 --mean 0
vips linear shapes.v bright.v 90 128
vips add bright.v noise.v grey.v
vips cast grey.v byte.v uchar
vips bandjoin "byte.v byte.v byte.v" three.v
vips copy three.v photo.jpg[Q=89,strip] --interpretation srgb
rm ./*.v
"""
NGINX = """
user @USER@; worker_processes @CORES@; daemon off; pid @FOLDER@/site.pid; error_log stderr;
events { worker_connections 512; }
http { @LOG@ sendfile on; tcp_nopush on; keepalive_requests 1000000; types { image/jpeg jpg; }
  server { listen 127.0.0.1:@PORT@; root @FOLDER@; } }
"""


def photos(bench):
    """Uploads of photos, and vipsthumbnail doing the same work"""
    prepare("libvips-tools")
    photo = make_photo(bench.folder)
    alone = PHOTOS / seconds_of(lambda: thumbnails(bench.folder, photo))
    kith = bench.start("kith")
    work = [(token, group) for token, groups in members(bench, kith, PHOTOS) for group in groups][:PHOTOS]
    uploads = Uploads(kith, work, photo.read_bytes())
    rate = PHOTOS / seconds_of(uploads.send_all)
    bench.report.add(
        "photos", f"uploads : vipsthumbnail, {PHOTOS} photos of {photo.stat().st_size / 1e6:.1f} MB",
        f"{len(available_cores())} cores", Values([rate / alone]), Goal("≥", 0.7), f"{rate:.1f}/s : {alone:.1f}/s")
    # By the second quarter everything has been used once.
    growth = uploads.memory[-1] / uploads.memory[2]
    bench.report.add(
        "photos", "memory of `kith` at the end : after the second quarter", f"{len(available_cores())} cores",
        Values([growth]), Goal("≤", 1.2), ", ".join(f"{value:.0f}" for value in uploads.memory) + " MB")


def links(bench):
    """Downloads of a photo by its link, directly and through the gateway, and nginx with sendfile"""
    prepare("libvips-tools", "nginx")
    photo = make_photo(bench.folder)
    for placement in placements():
        for is_logging in (True, False):
            kith = bench.start("kith", is_logging=is_logging, core=placement.server)
            (token, (group,)), = members(bench, kith, 1)
            sent = Uploads(kith, [(token, group)], photo.read_bytes()).send(token, group)
            url = call(kith, "GET", f"/api/photos/{group}/today", token)["photos"][0]["url"]
            nginx = start_nginx(bench, placement, is_logging, kith, sent)
            targets = {
                "nginx": (nginx, "/photo.jpg"), "directly": (kith.at(kith.settings["GROUPS_PORT"]), path_of(url)),
                "through the gateway": (kith, path_of(url))}
            rates = {name: [] for name in targets}
            for _ in range(bench.rounds):
                for name, (program, path) in targets.items():
                    result = load(program, "photos/link.lua", bench.seconds, core=placement.others,
                                  variables={"PATH_OF_REQUESTS": path})
                    rates[name].append(result.rate)
            bench.stop(nginx, kith)
            show_links(bench, placement, is_logging, rates)


def show_links(bench, placement, is_logging, rates):
    for name, goal in (("directly", 0.75), ("through the gateway", 0.6)):
        bench.report.add(
            "links", f"photo by its link, {name} : nginx with `sendfile`",
            placement.name + ("" if is_logging else ", without log"),
            Values([one / other for one, other in zip(rates[name], rates["nginx"])]),
            Goal("≥", goal) if is_logging else None,
            f"{Values(rates[name]).median:,.0f}/s : {Values(rates['nginx']).median:,.0f}/s")


def path_of(url):
    return url[url.index("/api/"):]


def seconds_of(work):
    start = time.monotonic()
    work()
    return time.monotonic() - start


def make_photo(folder):
    photo = folder / "photo.jpg"
    if not photo.exists():
        subprocess.run(["bash", "-ec", MAKE_PHOTO], cwd=folder, env=ENVIRONMENT, check=True)
    return photo


def thumbnails(folder, photo):
    """Both sizes of as many photos as are uploaded, shared out between as many processes as there are cores. The small
    one is made from the large one, as uploads have it."""
    script = """
      vipsthumbnail "${@/%/.jpg}" --size "1080x1080>" --output "%s_1080.jpg[Q=82,optimize_coding,strip]"
      vipsthumbnail "${@/%/_1080.jpg}" --size "320x320>" --output "%s_320.jpg[Q=82,optimize_coding,strip]" """
    for number in range(PHOTOS):
        (folder / f"in{number}.jpg").symlink_to(photo)
    cores = len(available_cores())
    running = [
        subprocess.Popen(
            ["bash", "-ec", script, "thumbnails", *(f"in{number}" for number in range(core, PHOTOS, cores))],
            cwd=folder, env=ENVIRONMENT | {"VIPS_CONCURRENCY": "1"}) for core in range(cores)]
    if any([process.wait() for process in running]):
        fail("vipsthumbnail failed")
    for path in folder.glob("in*.jpg"):
        path.unlink()


def call(program, method, path, token=None, body=None, headers=JSON):
    bearer = {"Authorization": f"Bearer {token}"} if token else {}
    status, response = program.request(method, path, bearer | headers, body, timeout=60)
    program.expect(f"{method} {path}", 200, status)
    return json.loads(response)


def members(bench, kith, photo_count):
    """Members with their groups: together as many groups as there are photos, or a few more."""
    for number in range(-(-photo_count // GROUPS_OF_A_MEMBER)):
        body = json.dumps({"email": f"member{number}@example.com"})
        headers = JSON | {"X-Admin-Key": bench.kith.admin_key}
        token = call(kith, "POST", "/api/v1/auth/dev/token", None, body, headers)["access_token"]
        yield token, [call(kith, "POST", "/api/groups", token, json.dumps({"name": "Benchmark"}))["id"]
                      for _ in range(min(GROUPS_OF_A_MEMBER, photo_count))]


class Uploads:
    """Sends a photo to each of many groups, directly to the service."""

    def __init__(self, kith, work, photo):
        self.kith, self.groups, self.photo = kith, kith.at(kith.settings["GROUPS_PORT"]), photo
        self.count, self.done, self.lock = len(work), 0, threading.Lock()
        self.work, self.failures, self.memory = queue.SimpleQueue(), [], [kith.memory()]
        for item in work:
            self.work.put(item)

    def send(self, token, group):
        return call(self.groups, "POST", f"/api/photos/upload?group_id={group}", token, self.photo, JPEG)["photo_id"]

    def send_all(self):
        threads = [threading.Thread(target=self.send_some) for _ in range(2 * len(available_cores()))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.done != self.count:
            fail(f"only {self.done} of {self.count} photos were uploaded: {self.failures[:1]}")

    def send_some(self):
        try:
            while True:
                self.send(*self.work.get_nowait())
                with self.lock:
                    self.done += 1
                    if self.done % max(1, self.count // 4) == 0:
                        self.memory.append(self.kith.memory())
        except queue.Empty:
            return
        except (SystemExit, OSError) as error:
            self.failures.append(error)


def start_nginx(bench, placement, is_logging, kith, photo_id):
    """nginx with the same file as the link, and its log in a file as well."""
    file, = kith.folder.glob(f"data/photos/**/{photo_id}.1080.jpg")
    site = bench.folder / "site"
    site.mkdir(exist_ok=True)
    (site / "photo.jpg").write_bytes(file.read_bytes())
    port = free_port()
    values = {"USER": getpass.getuser(), "CORES": len(placement.server_cores), "FOLDER": site, "PORT": port,
              "LOG": "access_log /dev/stdout;" if is_logging else "access_log off;"}
    text = NGINX
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    (site / "nginx.conf").write_text(text)
    # Its workers may have another user.
    site.chmod(0o755)
    command = ["nginx", "-e", "stderr", "-c", site / "nginx.conf"]
    nginx = bench.launch("nginx", command, port=port, core=placement.server)
    nginx.wait("/photo.jpg")
    return nginx
