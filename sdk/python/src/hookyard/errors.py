"""What a call that fails raises."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Detail:
    """One thing wrong with one member of a request."""

    path: str
    """Dotted: `retryPolicy.maxRetries`; empty for the whole."""
    message: str


class HookyardError(Exception):
    """Every failure of a call. The message says what to do, and contains no secret."""

    status: int | None
    """The HTTP status; None when there was no answer."""
    code: str | None
    """The API's code (`VALIDATION_ERROR`, ...), None where it gives none. Of the client itself: `UNREACHABLE`, `TIMEOUT`, and
    `NOT_HOOKYARD` when something else answered."""
    details: tuple[Detail, ...]
    """Problems of single members of the request; empty for most errors."""
    limit: str | None
    """The limit of the organization that the request would exceed; None for other errors."""
    request_id: str | None
    """Under which the service's log has the request; None when there was no answer."""
    retry_after: float | None
    """How long the service asks to wait, in seconds; None when it does not say."""
    idempotency_key: str | None
    """With which a POST can be sent again by hand without being carried out twice; None for other methods."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        details: tuple[Detail, ...] = (),
        limit: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.details = details
        self.limit = limit
        self.request_id = request_id
        self.retry_after = retry_after
        self.idempotency_key = idempotency_key
