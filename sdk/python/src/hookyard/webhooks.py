"""Verification of webhooks from Hookyard, or from any other sender that signs according to Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PREFIX = "whsec_"


class WebhookVerificationError(Exception):
    """The webhook was not signed with the secret, or is too old. Return 400 or 401, and do not process it."""


@dataclass(frozen=True)
class VerifiedWebhook:
    """A webhook with a valid signature."""

    id: str
    """The same in every attempt: use it to skip webhooks that you have already processed."""
    timestamp: int
    """When the webhook was sent, in seconds since 1970."""


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance: float = 300.0,
    now: float | None = None,
) -> VerifiedWebhook:
    """Verifies a webhook according to Standard Webhooks (`v1`, HMAC-SHA256).

    `body`: the bytes as received, before anything parses them.
    `headers`: the headers of the request. Names are not case-sensitive.
    `secret`: `whsec_...`, or several during a rotation: one of them must match.
    `tolerance`: maximum difference between the timestamp and the current time, in seconds.
    `now`: replaces the current time, in seconds since 1970.

    Raises WebhookVerificationError if the webhook is not valid, and ValueError if a secret is not valid.
    """
    keys = [_key_of(each) for each in ([secret] if isinstance(secret, str) else secret)]
    given = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp, signatures = (
        given.get(f"webhook-{part}", "") for part in ("id", "timestamp", "signature")
    )
    if not message_id or not timestamp or not signatures:
        raise WebhookVerificationError("webhook-id, webhook-timestamp or webhook-signature is missing")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise WebhookVerificationError("webhook-timestamp is not a number of seconds")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise WebhookVerificationError("webhook-timestamp is too far from the current time")
    content = f"{message_id}.{timestamp}.".encode() + (body.encode() if isinstance(body, str) else bytes(body))
    expected = [base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()) for key in keys]
    sent = [
        signature.encode()
        for version, _, signature in (each.partition(",") for each in signatures.split(" "))
        if version == "v1"
    ]
    # All are compared, so that the time it takes tells nothing.
    if not any([hmac.compare_digest(one, other) for one in sent for other in expected]):
        raise WebhookVerificationError("no signature matches: the secret is wrong, or the webhook was sent by someone else or changed in transit")
    return VerifiedWebhook(message_id, int(timestamp))


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f'A secret must be "{PREFIX}" followed by base64') from error
    if not key:
        raise ValueError("The secret is empty")
    return key
