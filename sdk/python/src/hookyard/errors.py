"""The errors that calls raise."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass


@dataclass(frozen=True)
class Detail:
    """A problem with one field of a request."""

    path: str
    """The dotted path of the field, such as `retryPolicy.maxRetries`. Empty for the whole body."""
    message: str


@dataclass(eq=False, repr=False)
class HookyardError(Exception):
    """The error of a call. The message says what to do, and contains no secrets."""

    message: str
    _: KW_ONLY
    status: int | None = None
    """The HTTP status. None if there was no response."""
    code: str | None = None
    """The code from the API (`VALIDATION_ERROR`, ...). None if it returned none. The client's own codes: `UNREACHABLE`, `TIMEOUT`,
    and `NOT_HOOKYARD` if the response is not from Hookyard."""
    details: tuple[Detail, ...] = ()
    """Problems with individual fields of the request. Empty for most errors."""
    limit: str | None = None
    """The organization's limit that the request would exceed. None for other errors."""
    request_id: str | None = None
    """The request ID, as shown in the service log. None if there was no response."""
    retry_after: float | None = None
    """How long to wait before a retry, in seconds. None if the service did not specify it."""
    idempotency_key: str | None = None
    """Send this key again to retry the POST without carrying it out twice. None for other methods."""
