"""Calls supabase-py's storage client against a gateway: what is served works, all else is a typed error.

Arguments: the gateway's address, ids and access tokens of two people, and a file with a photo.
"""

import httpx
from storage3 import create_client
from storage3.exceptions import StorageApiError

# A busy machine may need more than the default of five seconds, which all clients share.
for part in ("connect", "read", "write", "pool"):
    setattr(httpx._config.DEFAULT_TIMEOUT_CONFIG, part, 60)

BASE, ALICE, ALICE_TOKEN, BOB, BOB_TOKEN, PHOTO = sys.argv[1:7]


def client(token):
    return create_client(f"{BASE}/storage/v1/", {"Authorization": f"Bearer {token}", "apikey": "anon"}, is_async=False)


def refused(status, code, call):
    try:
        answer = call()
    except StorageApiError as failure:
        assert (str(failure.status), failure.code) == (status, code), failure
        assert failure.message, failure
        return
    raise AssertionError(f"not refused with {status} {code}: {answer}")


alice, bob = client(ALICE_TOKEN), client(BOB_TOKEN)
photos, avatars = alice.from_("photos"), alice.from_("avatars")
with open(PHOTO, "rb") as file:
    photo = file.read()

stored = photos.upload(f"{ALICE}/hunt/1.jpg", photo, {"content-type": "image/jpeg", "cache-control": "60"})
assert stored.path == f"{ALICE}/hunt/1.jpg" and stored.full_path == f"photos/{ALICE}/hunt/1.jpg", stored
refused("409", "Duplicate", lambda: photos.upload(f"{ALICE}/hunt/1.jpg", photo))
photos.upload(f"{ALICE}/hunt/1.jpg", photo, {"upsert": "true"})
photos.update(f"{ALICE}/hunt/1.jpg", PHOTO)
photos.upload(f"{ALICE}/2.jpg", PHOTO)
refused("403", "Unauthorized", lambda: photos.upload(f"{BOB}/1.jpg", photo))
refused("415", "unsupported_media_type", lambda: photos.upload(f"{ALICE}/3.jpg", b"no photo"))
refused("400", "InvalidKey", lambda: photos.upload(f"{ALICE}/a b.jpg", photo))
refused("404", "not_found", lambda: alice.from_("others").upload(f"{ALICE}/1.jpg", photo))
refused("401", "unauthorized", lambda: create_client(f"{BASE}/storage/v1/", {}, is_async=False).from_("photos").list())

read = photos.download(f"{ALICE}/hunt/1.jpg")
assert read[:3] == b"\xff\xd8\xff" and b"KITHSECRET" not in read
assert b"KITHSECRET" in photo
refused("404", "not_found", lambda: bob.from_("photos").download(f"{ALICE}/hunt/1.jpg"))
refused("404", "not_found", lambda: photos.download(f"{ALICE}/none.jpg"))
assert photos.exists(f"{ALICE}/2.jpg") and not photos.exists(f"{ALICE}/none.jpg")
assert photos.info(f"{ALICE}/2.jpg")["content_type"] == "image/jpeg"
for files, name in [
    (photos, f"{ALICE}/none.jpg"), (photos, f"{ALICE}/a b.jpg"), (photos, ALICE), (avatars, f"{ALICE}/2.jpg"),
    (alice.from_("others"), f"{ALICE}/2.jpg"), (bob.from_("photos"), f"{ALICE}/2.jpg"),
]:
    refused("404", "not_found", lambda: files.info(name))

# An update of what is not there stores it, as a PUT does.
fresh = f"{ALICE}/fresh.jpg"
assert photos.update(fresh, photo).path == fresh and photos.info(fresh)["content_type"] == "image/jpeg"
refused("415", "unsupported_media_type", lambda: photos.update(fresh, b"no photo"))
assert photos.download(fresh)[:3] == b"\xff\xd8\xff"
refused("403", "Unauthorized", lambda: photos.update(f"{BOB}/none.jpg", photo))
refused("403", "Unauthorized", lambda: bob.from_("photos").update(fresh, photo))
refused("404", "not_found", lambda: alice.from_("others").update(f"{ALICE}/none.jpg", photo))
assert [one["name"] for one in photos.remove([fresh])] == [fresh] and not photos.exists(fresh)

assert [one["name"] for one in photos.list(ALICE)] == ["2.jpg", "hunt"], photos.list(ALICE)
assert [one["name"] for one in photos.list(f"{ALICE}/hunt", {"limit": 1})] == ["1.jpg"]
newest = {"sortBy": {"column": "created_at", "order": "desc"}}
assert [one["name"] for one in photos.list(ALICE, newest)] == ["2.jpg", "hunt"]
assert photos.list(BOB) == [] and bob.from_("photos").list(ALICE) == []
refused("400", "validation_error", lambda: photos.list(ALICE, {"limit": 5000}))

signed = photos.create_signed_url(f"{ALICE}/hunt/1.jpg", 60)
assert signed["signedURL"].startswith(f"{BASE}/storage/v1/object/sign/photos/"), signed
assert httpx.get(signed["signedURL"]).content == read
saved = photos.create_signed_url(f"{ALICE}/hunt/1.jpg", 60, {"download": "mine.jpg"})
assert "mine.jpg" in httpx.get(saved["signedURL"]).headers["content-disposition"]
assert httpx.get(signed["signedURL"].replace("hunt/1.jpg", "2.jpg")).status_code == 400
refused("404", "not_found", lambda: bob.from_("photos").create_signed_url(f"{ALICE}/hunt/1.jpg", 60))
refused("400", "validation_error", lambda: photos.create_signed_url(f"{ALICE}/hunt/1.jpg", 0))
many = photos.create_signed_urls([f"{ALICE}/2.jpg", f"{ALICE}/none.jpg"], 60)
assert [one["error"] is None for one in many] == [True, False], many
assert httpx.get(many[0]["signedURL"]).status_code == 200

avatars.upload(f"{ALICE}/me.jpg", photo)
public = httpx.get(avatars.get_public_url(f"{ALICE}/me.jpg"))
assert public.status_code == 200 and public.headers["cache-control"] == "public, max-age=3600", public.headers
assert httpx.get(photos.get_public_url(f"{ALICE}/2.jpg")).status_code == 404

assert bob.from_("photos").remove([f"{ALICE}/2.jpg"]) == []
assert [one["name"] for one in photos.remove([f"{ALICE}/2.jpg", f"{ALICE}/none.jpg"])] == [f"{ALICE}/2.jpg"]
refused("404", "not_found", lambda: photos.download(f"{ALICE}/2.jpg"))

# What is not served is a typed error.
refused("404", "not_found", lambda: alice.list_buckets())
refused("404", "not_found", lambda: photos.create_signed_upload_url(f"{ALICE}/4.jpg"))
refused("404", "not_found", lambda: photos.list_v2())
for call in (photos.move, photos.copy):
    refused("405", "method_not_allowed", lambda: call(f"{ALICE}/hunt/1.jpg", f"{ALICE}/9.jpg"))
print("storage surface done")
