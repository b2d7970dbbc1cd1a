"""One call: its deadline, its repeats, and its answer or error. The manners are those of the JavaScript client."""

from __future__ import annotations

import json
import random
import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlencode

import urllib3

from .errors import Detail, HookyardError

FIRST_BACKOFF = 0.5
PART = 65_536


@dataclass(frozen=True)
class Options:
    """Options for one call."""

    timeout: float | None = None
    """Deadline of each request in seconds, instead of the client's deadline."""
    idempotency_key: str | None = None
    """For a POST: replaces the generated key, to retry the request from another process. 1 to 255 visible ASCII characters."""
    if_match: str | None = None
    """For a change: applies only if the record has this version, an `ETag` from `on_etag`; otherwise the call fails."""
    on_etag: Callable[[str], None] | None = None
    """Called with the `ETag` of a response that returns a single record: the version of the record."""


@dataclass(frozen=True)
class Raw:
    """A response that is not JSON, as received."""

    content_type: str | None
    content: bytes


@dataclass(frozen=True)
class Settings:
    """The settings of a client."""

    url: str
    api_key: str | None
    timeout: float
    max_retries: int
    max_wait: float
    user_agent: str
    pool: urllib3.PoolManager


def send(settings: Settings, method: str, path: str, body: Any, options: Options) -> Any:
    """Sends a request, again where that is safe and useful, and returns its answer: parsed JSON, None, or Raw.

    Repeated are answers 429 and 503, which say that nothing was done, and a 409 that says that this very POST still runs; of GET
    and POST also broken connections (a POST carries the same Idempotency-Key each time), and of a PUT without `if_match`. A
    time-out is not repeated: the caller said how long to wait.
    """
    key = (options.idempotency_key or str(uuid.uuid4())) if method == "POST" else None
    waited = 0.0
    retry = 0
    while True:
        try:
            return _send_once(settings, method, path, body, options, key)
        except HookyardError as error:
            if retry >= settings.max_retries or not _is_repeatable(error, method, options):
                raise
            wait = error.retry_after if error.retry_after is not None else _backoff(retry)
            # A wait that does not fit is the caller's to decide on; half of it would be of no use.
            if waited + wait > settings.max_wait:
                raise
        time.sleep(wait)
        waited += wait
        retry += 1


def _is_repeatable(error: HookyardError, method: str, options: Options) -> bool:
    if error.status in (429, 503) or error.code == "IDEMPOTENCY_KEY_IN_USE":
        return True
    return error.code == "UNREACHABLE" and (
        method in ("GET", "POST") or (method == "PUT" and options.if_match is None)
    )


def _backoff(retry: int) -> float:
    """Half to all of 0.5, 1, 2, ... s, so that clients that failed together do not come back together."""
    return FIRST_BACKOFF * 2.0**retry * (0.5 + random.random() / 2)


def _send_once(
    settings: Settings, method: str, path: str, body: Any, options: Options, key: str | None
) -> Any:
    timeout = settings.timeout if options.timeout is None else options.timeout
    deadline = time.monotonic() + timeout
    what = f"{method} {settings.url}{path.split('?')[0]}"
    headers = {"Accept": "application/json, */*;q=0.1", "User-Agent": settings.user_agent}
    if settings.api_key:
        headers["Authorization"] = f"Bearer {settings.api_key}"
    if options.if_match is not None:
        headers["If-Match"] = options.if_match
    if key is not None:
        headers["Idempotency-Key"] = key
    content = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    try:
        # Redirects are not followed: a POST would become a GET, and the key would go to another place.
        response = settings.pool.request(
            method,
            settings.url + path,
            body=content,
            headers=headers,
            timeout=urllib3.Timeout(total=timeout),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        try:
            data = _read(response, deadline)
        except BaseException:
            response.close()
            raise
        response.release_conn()
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise _no_answer(error, what, timeout, key) from error
    answer = _answer(response, data, what, key)
    etag = response.headers.get("etag")
    if etag is not None and options.on_etag is not None:
        options.on_etag(etag)
    return answer


def _no_answer(error: Exception, what: str, timeout: float, key: str | None) -> HookyardError:
    # A connection that is refused counts as one that timed out there.
    is_refused = isinstance(error, urllib3.exceptions.NewConnectionError)
    if isinstance(error, urllib3.exceptions.TimeoutError | TimeoutError) and not is_refused:
        return HookyardError(f"{what} got no response within {timeout:g} s", code="TIMEOUT", idempotency_key=key)
    return HookyardError(f"{what} cannot be reached ({error})", code="UNREACHABLE", idempotency_key=key)


def _read(response: urllib3.BaseHTTPResponse, deadline: float) -> bytes:
    parts = []
    for part in response.stream(PART):
        parts.append(part)
        if time.monotonic() > deadline:
            raise TimeoutError
    return b"".join(parts)


def _answer(response: urllib3.BaseHTTPResponse, data: bytes, what: str, key: str | None) -> Any:
    status = response.status
    content_type = response.headers.get("content-type")
    is_json = re.match(r"application/json\b", content_type or "", re.IGNORECASE) is not None
    if 200 <= status < 300:
        # A payload as it was received may be JSON too, even broken; it comes as an attachment.
        if response.headers.get("content-disposition", "").startswith("attachment"):
            return Raw(content_type, data)
        if status == 204:
            return None
        if is_json:
            try:
                return json.loads(data)
            except ValueError:
                pass
    elif is_json:
        body = _error_body(data)
        if body is not None:
            raise _api_error(response, body, body["message"], key)
    elif status in (429, 502, 503, 504):
        # What stands before the API, a proxy for example, answers these in its own words.
        raise _api_error(response, {}, f"{what} returned {status}", key)
    location = response.headers.get("location")
    how = f", a redirect to {location}" if location else f" with content type {content_type or 'none'}"
    raise HookyardError(
        f"{what} returned {status}{how}: this is not the Hookyard API; check the URL",
        status=status,
        code="NOT_HOOKYARD",
        idempotency_key=key,
    )


def _error_body(data: bytes) -> dict[str, Any] | None:
    try:
        body = json.loads(data)
    except ValueError:
        return None
    return body if isinstance(body, dict) and isinstance(body.get("message"), str) else None


def _api_error(
    response: urllib3.BaseHTTPResponse, body: dict[str, Any], message: str, key: str | None
) -> HookyardError:
    details = body.get("details")
    code, limit = body.get("code"), body.get("limit")
    return HookyardError(
        message,
        status=response.status,
        code=code if isinstance(code, str) else None,
        details=tuple(
            Detail(str(detail.get("path", "")), str(detail.get("message", "")))
            for detail in (details if isinstance(details, list) else [])
            if isinstance(detail, dict)
        ),
        limit=limit if isinstance(limit, str) else None,
        request_id=response.headers.get("x-request-id"),
        retry_after=_retry_after(response.headers.get("retry-after")),
        idempotency_key=key,
    )


def _retry_after(text: str | None) -> float | None:
    """RFC 9110, section 10.2.3: seconds, of which some proxies send fractions, or a date."""
    if text is None:
        return None
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    at = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())


class Caller:
    """Calls operations, and iterates over lists."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._organization: str | None = None

    def _call(
        self,
        operation: str,
        path: dict[str, Any],
        query: dict[str, Any],
        body: Any,
        options: Options | None,
    ) -> Any:
        method, template = operation.split(" ", 1)
        options = options or Options()
        if path.get("orgId", "") is None:
            path = {**path, "orgId": self._organization_id(options)}
        return send(self._settings, method, _path_of(template, path, query), body, options)

    def _each(
        self,
        operation: str,
        path: dict[str, Any],
        query: dict[str, Any],
        by_cursor: bool,
        options: Options | None,
    ) -> Iterator[Any]:
        """By cursor what is stored meanwhile shifts nothing; by page an item that shows up twice is given once."""
        query = {**query, "pageSize": query.get("pageSize") or 100}
        cursor: str | None = "first"
        while by_cursor and cursor is not None:
            part = self._call(operation, path, {**query, "cursor": cursor}, None, options)
            yield from part["data"]
            cursor = part["pagination"]["nextCursor"]
        page = 1
        before: set[str] = set()
        while not by_cursor:
            answer = self._call(operation, path, {**query, "page": page}, None, options)
            items = {_identity(item): item for item in answer["data"]}
            yield from (item for identity, item in items.items() if identity not in before)
            pagination = answer["pagination"]
            if not items or page * pagination["pageSize"] >= pagination["total"]:
                return
            before = set(items)
            page += 1

    def _organization_id(self, options: Options) -> str:
        """The organization of the key, asked for once."""
        if self._organization is None:
            caller = self._call("GET /api/auth/me", {}, {}, None, Options(timeout=options.timeout))
            self._organization = str(caller["organization"]["id"])
        return self._organization


def _identity(item: Any) -> str:
    """Not all items have an id."""
    return str(item.get("id") or json.dumps(item))


def _path_of(template: str, path: dict[str, Any], query: dict[str, Any]) -> str:
    """Fills the path, and adds the query."""
    for name, value in path.items():
        if not isinstance(value, str) or value == "":
            raise ValueError(f"{name} must be a non-empty string")
        template = template.replace("{" + name + "}", quote(value, safe=""))
    given = [(name, _text(value)) for name, value in query.items() if value is not None]
    return f"{template}?{urlencode(given)}" if given else template


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(_text, value)) if isinstance(value, list | tuple) else str(value)
