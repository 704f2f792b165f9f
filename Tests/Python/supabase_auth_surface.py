"""Calls every method of supabase-py's auth client against a gateway: what is served works, all else is a typed error.

Arguments: the gateway's address, a file with the mails that have been sent so far, an identity token of Apple's.
"""

import json
import time

import httpx
from supabase import AuthApiError, AuthWeakPasswordError, create_client
from supabase_auth.errors import AuthInvalidCredentialsError, AuthSessionMissingError

# A busy machine may need more than the default of five seconds, which all clients share.
for part in ("connect", "read", "write", "pool"):
    setattr(httpx._config.DEFAULT_TIMEOUT_CONFIG, part, 60)

BASE, LETTERS, APPLE = sys.argv[1:4]
KEY = "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl"
PASSWORD = "correct horse"
ID = "6b1f0c52-77a4-4e3d-9c1a-2f4d6e8b0a13"


def app():
    return create_client(BASE, KEY).auth


def refused(code, call, status=None, error=AuthApiError):
    try:
        answer = call()
    except error as failure:
        assert failure.code == code, (failure.code, code, failure.message)
        assert status is None or failure.status == status, (failure.status, status)
        assert failure.message and failure.message != "Unexpected error", failure
        return
    raise AssertionError(f"not refused with {code}: {answer}")


def letter(address, count=1):
    """The newest mail to an address once there are `count` of them: its code and its link."""
    for _ in range(1200):
        with open(LETTERS) as file:
            found = [one for one in json.load(file) if one["to"] == address]
        if len(found) >= count:
            return found[-1]
        time.sleep(0.05)
    raise AssertionError(f"no mail {count} to {address}")


def pressed(link):
    """What the app is opened with after the button behind a mail's link."""
    token = link.split("token_hash=")[1]
    answer = httpx.post(f"{BASE}/auth/v1/verify", data={"token_hash": token}, follow_redirects=False)
    assert answer.status_code == 303, (answer.status_code, answer.text)
    return answer.headers["location"].split("code=")[1]


# Signing up and in.
auth = app()
events = []
subscription = auth.on_auth_state_change(lambda event, session: events.append(event))
signed = auth.sign_up({"email": "alice@example.com", "password": PASSWORD, "options": {"data": {"team": "red", "age": 7}}})
assert signed.session and signed.user.user_metadata["team"] == "red", signed
assert signed.user.app_metadata["provider"] == "email" and signed.user.aud == "authenticated"
alice = signed.user.id
first = letter("alice@example.com")
refused("user_already_exists", lambda: app().sign_up({"email": "alice@example.com", "password": PASSWORD}), 422)
refused("phone_provider_disabled", lambda: app().sign_up({"phone": "+15550001111", "password": PASSWORD}), 422)
refused(
    "weak_password", lambda: app().sign_up({"email": "bob@example.com", "password": "short"}), 422, AuthWeakPasswordError
)
refused("invalid_credentials", lambda: app().sign_in_with_password({"email": "alice@example.com", "password": "wrong"}))
refused("validation_failed", lambda: app().sign_in_with_password({"phone": "+15550001111", "password": PASSWORD}))
assert app().sign_in_with_password({"email": "alice@example.com", "password": PASSWORD}).user.id == alice
assert app().sign_in_anonymously().user.is_anonymous
apple = app().sign_in_with_id_token({"provider": "apple", "token": APPLE})
assert apple.user.app_metadata["provider"] == "apple", apple.user
refused("invalid_apple_token", lambda: app().sign_in_with_id_token({"provider": "apple", "token": "nonsense"}))
refused("validation_failed", lambda: app().sign_in_with_id_token({"provider": "google", "token": APPLE}))
refused("not_found", lambda: app().sign_in_with_sso({"domain": "example.com"}), 404)
assert app().sign_in_with_oauth({"provider": "github"}).url.startswith(BASE)

# The link of the first mail, exchanged by the app that has signed up.
confirmed = auth.exchange_code_for_session({"auth_code": pressed(first["link"])})
assert confirmed.user.id == alice and confirmed.user.email_confirmed_at, confirmed.user
refused("flow_state_not_found", lambda: auth.exchange_code_for_session({"auth_code": "none", "code_verifier": "none"}), 404)

# The session.
assert auth.get_session().user.id == alice and auth.get_user().user.id == alice
claims = auth.get_claims()["claims"]
assert claims["aal"] == "aal1" and claims["amr"][0]["method"] == "email/signup", claims
level = auth.mfa.get_authenticator_assurance_level()
assert level.current_level == "aal1" and level.current_authentication_methods, level
refused("bad_jwt", lambda: auth.get_user("a.b.c"), 401)
before = auth.get_session()
refreshed = auth.refresh_session()
assert refreshed.session.refresh_token != before.refresh_token
assert app().set_session(refreshed.session.access_token, refreshed.session.refresh_token).user.id == alice
refused("refresh_token_not_found", lambda: app().refresh_session("none"), 401)

# Ways in.
identities = auth.get_user_identities().identities
assert len(identities) == 1 and identities[0].provider == "email", identities
refused("not_found", lambda: auth.unlink_identity(identities[0]), 404)
refused("not_found", lambda: auth.link_identity({"provider": "github"}), 404)

# Changes.
assert auth.update_user({"data": {"team": "blue"}}).user.user_metadata["team"] == "blue"
refused("same_password", lambda: auth.update_user({"password": PASSWORD}), 422)
refused("weak_password", lambda: auth.update_user({"password": "short"}), 422, AuthWeakPasswordError)
auth.reauthenticate()
nonce = letter("alice@example.com", 2)["code"]
auth.update_user({"password": "another horse", "nonce": nonce})
assert app().sign_in_with_password({"email": "alice@example.com", "password": "another horse"}).user.id == alice
assert auth.update_user({"email": "new@example.com"}).user.new_email == "new@example.com"
letter("new@example.com")
auth.resend({"type": "email_change", "email": "new@example.com"})
code = letter("new@example.com", 2)["code"]
changed = auth.verify_otp({"type": "email_change", "email": "new@example.com", "token": code})
assert changed.user.id == alice and changed.user.email == "new@example.com", changed.user
auth.update_user({"phone": "+15550002222"})
auth.resend({"type": "phone_change", "phone": "+15550002222"})
changed = auth.verify_otp({"type": "phone_change", "phone": "+15550002222", "token": "424242"})
assert changed.user.id == alice and changed.user.phone == "15550002222", changed.user

# Codes and links.
app().sign_in_with_otp({"phone": "+15550001111"})
app().resend({"type": "sms", "phone": "+15550001111"})
phone = app().verify_otp({"phone": "+15550001111", "token": "424242", "type": "sms"})
assert phone.session and phone.user.phone == "15550001111", phone.user
refused("phone_exists", lambda: auth.update_user({"phone": "+15550001111"}), 422)
app().sign_in_with_otp({"email": "carol@example.com", "options": {"data": {"team": "red"}}})
code = letter("carol@example.com")["code"]
carol = app().verify_otp({"type": "email", "email": "carol@example.com", "token": code})
assert carol.user.user_metadata["team"] == "red", carol.user
refused("email_exists", lambda: auth.update_user({"email": "carol@example.com"}), 422)
refused("otp_expired", lambda: app().verify_otp({"type": "email", "email": "carol@example.com", "token": code}), 403)
for kind in ["magiclink", "invite", "recovery", "signup"]:
    refused("otp_expired", lambda: app().verify_otp({"type": kind, "email": "carol@example.com", "token": "1"}), 403)
refused("otp_expired", lambda: app().verify_otp({"type": "email", "token_hash": "none"}), 403)
unknown = app().sign_in_with_otp({"email": "nobody@example.com", "options": {"should_create_user": False}})
assert unknown.message_id is None
linked = app()
linked.sign_in_with_otp({"email": "carol@example.com"})
link = letter("carol@example.com", 2)["link"]
code = pressed(link)
verifier = {"auth_code": code, "code_verifier": "not the verifier"}
refused("bad_code_verifier", lambda: app().exchange_code_for_session(verifier), 400)
assert linked.exchange_code_for_session({"auth_code": code}).user.id == carol.user.id
linked.reset_password_for_email("carol@example.com")
recovered = linked.exchange_code_for_session({"auth_code": pressed(letter("carol@example.com", 3)["link"])})
assert recovered.user.id == carol.user.id and linked.update_user({"password": PASSWORD})
app().reset_password_email("carol@example.com")
code = letter("carol@example.com", 4)["code"]
assert app().verify_otp({"type": "recovery", "email": "carol@example.com", "token": code}).user.id == carol.user.id
fresh = app()
fresh.sign_up({"email": "dave@example.com", "password": PASSWORD})
fresh.resend({"type": "signup", "email": "dave@example.com"})
code = letter("dave@example.com", 2)["code"]
assert app().verify_otp({"type": "signup", "email": "dave@example.com", "token": code}).user.email == "dave@example.com"
refused(None, lambda: app().resend({"type": "signup"}), error=AuthInvalidCredentialsError)

# What nobody has here.
mfa = auth.mfa
assert mfa.list_factors().all == []
refused("not_found", lambda: mfa.enroll({"factor_type": "totp", "friendly_name": "a", "issuer": "b"}), 404)
refused("not_found", lambda: mfa.challenge({"factor_id": ID}), 404)
refused("not_found", lambda: mfa.verify({"factor_id": ID, "challenge_id": ID, "code": "1"}), 404)
refused("not_found", lambda: mfa.challenge_and_verify({"factor_id": ID, "code": "1"}), 404)
refused("not_found", lambda: mfa.unenroll({"factor_id": ID}), 404)
admin = auth.admin
for call in [
    lambda: admin.invite_user_by_email("bob@example.com"),
    lambda: admin.generate_link({"type": "magiclink", "email": "bob@example.com"}),
    lambda: admin.create_user({"email": "bob@example.com"}),
    lambda: admin.list_users(),
    lambda: admin.get_user_by_id(ID),
    lambda: admin.update_user_by_id(ID, {"email": "bob@example.com"}),
    lambda: admin.delete_user(ID),
    lambda: admin.mfa.list_factors({"user_id": ID}),
    lambda: admin.mfa.delete_factor({"user_id": ID, "id": ID}),
    lambda: admin.oauth.list_clients(),
    lambda: admin.oauth.create_client({"client_name": "a", "redirect_uris": ["https://a.example"]}),
    lambda: admin.oauth.get_client(ID),
    lambda: admin.oauth.update_client(ID, {"client_name": "b"}),
    lambda: admin.oauth.delete_client(ID),
    lambda: admin.oauth.regenerate_client_secret(ID),
]:
    refused("not_found", call, 404)

# Signing out.
other = app()
other.sign_in_with_password({"email": "new@example.com", "password": "another horse"})
auth.sign_out({"scope": "others"})
refused("session_not_found", lambda: other.get_user(), 401)
access = auth.get_session().access_token
auth.sign_out({"scope": "local"})
assert auth.get_session() is None
refused("session_not_found", lambda: admin.sign_out(access, "local"), 401)
refused(None, lambda: auth.reauthenticate(), error=AuthSessionMissingError)
auth.sign_in_with_password({"email": "new@example.com", "password": "another horse"})
auth.sign_out()
assert auth.get_session() is None and "SIGNED_OUT" in events, events
subscription.unsubscribe()
print("all well")
