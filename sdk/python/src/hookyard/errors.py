"""What a call that fails raises."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass


@dataclass(frozen=True)
class Detail:
    """One thing wrong with one member of a request."""

    path: str
    """Dotted: `retryPolicy.maxRetries`; empty for the whole."""
    message: str


@dataclass(eq=False, repr=False)
class HookyardError(Exception):
    """Every failure of a call. The message says what to do, and contains no secret."""

    message: str
    _: KW_ONLY
    status: int | None = None
    """The HTTP status; None when there was no answer."""
    code: str | None = None
    """The API's code (`VALIDATION_ERROR`, ...), None where it gives none. Of the client itself: `UNREACHABLE`, `TIMEOUT`, and
    `NOT_HOOKYARD` when something else answered."""
    details: tuple[Detail, ...] = ()
    """Problems of single members of the request; empty for most errors."""
    limit: str | None = None
    """The limit of the organization that the request would exceed; None for other errors."""
    request_id: str | None = None
    """Under which the service's log has the request; None when there was no answer."""
    retry_after: float | None = None
    """How long the service asks to wait, in seconds; None when it does not say."""
    idempotency_key: str | None = None
    """With which a POST can be sent again by hand without being carried out twice; None for other methods."""
