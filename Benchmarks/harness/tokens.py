"""Access tokens, as Shared/Tokens makes them."""
import base64, hashlib, hmac, json, time


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def digest(secret, text):
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()


def access_token(secret, user, session, lifetime=86_400, signed_with=None):
    now = int(time.time())
    head = {"alg": "HS256", "kid": base64url(digest(secret, "kith key id")[:9]), "typ": "JWT"}
    # As long as the request id that Kith uses, and another one for each session.
    identifier = hashlib.md5(f"{session}".encode()).hexdigest()
    claims = {"exp": now + lifetime, "iat": now - 3600, "iss": "kith", "jti": identifier, "sid": session, "sub": user,
              "type": "access"}
    message = ".".join(base64url(json.dumps(part, separators=(",", ":")).encode()) for part in (head, claims))
    return f"{message}.{base64url(digest(signed_with or secret, message))}"
