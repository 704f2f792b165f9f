"""Verifies tokens with Apple's own library, and prints for each whether it accepts it.

Reads from standard input {"root": DER in base64, "bundle_id": …, "app_id": …, "tokens": [{"kind": …, "text": …}, …]}.
"""
import base64
import json
import sys

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

asked = json.load(sys.stdin)
verifier = SignedDataVerifier(
    [base64.b64decode(asked["root"])], False, Environment.PRODUCTION, asked["bundle_id"], asked["app_id"])
verify = {
    "transaction": verifier.verify_and_decode_signed_transaction,
    "renewal": verifier.verify_and_decode_renewal_info,
    "notification": verifier.verify_and_decode_notification,
}
verdicts = []
for token in asked["tokens"]:
    try:
        verify[token["kind"]](token["text"])
        verdicts.append(True)
    except VerificationException:
        verdicts.append(False)
    except Exception:  # A payload that its models cannot hold.
        verdicts.append(False)
json.dump(verdicts, sys.stdout)
