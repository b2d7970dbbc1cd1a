"""The client: a method for each operation, and an iterator for each list."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlencode, urlsplit

import urllib3

from ._call import Ignored, Options, Settings, send
from ._operations import VERSION, Operations

NO_OPTIONS = Options()


class Hookyard(Operations):
    """A client. Nothing is sent until a method is called; several threads may use one.

    Its methods raise HookyardError. Answers are the dictionaries that the API sends.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        *,
        timeout: float = 30.0,
        max_retries: int = 4,
        max_wait: float = 60.0,
        user_agent: str | None = None,
        on_ignored: Callable[[Ignored], None] | None = None,
    ) -> None:
        """Makes a client.

        `url`: where the service is, for example `https://hooks.example.com`; a path is kept.
        `api_key`: `whr_...`; without it only what is open to everyone can be asked for.
        `timeout`: deadline of each request, its answer's body included, in seconds.
        `max_retries`: how often a request is repeated at most; 0 never repeats.
        `max_wait`: how long a call waits between its repeats in all, in seconds.
        `on_ignored`: called when the service did not know parts of a request and ignored them: a misspelt filter, for example.
        """
        self._settings = Settings(
            url=_base_of(url),
            api_key=api_key,
            timeout=timeout,
            max_retries=max_retries,
            max_wait=max_wait,
            user_agent=user_agent or f"hookyard-python/{VERSION}",
            on_ignored=on_ignored,
            pool=urllib3.PoolManager(maxsize=10),
        )
        self._organization: str | None = None

    def close(self) -> None:
        """Closes the connections that are kept for further calls."""
        self._settings.pool.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _call(
        self,
        operation: str,
        path: dict[str, Any],
        query: dict[str, Any],
        body: Any,
        options: Options | None,
    ) -> Any:
        method, template = operation.split(" ", 1)
        options = options or NO_OPTIONS
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
            self._organization = self.get_caller(options=Options(timeout=options.timeout))["organization"]["id"]
        return self._organization


def _identity(item: Any) -> str:
    """Not all items have an id."""
    return str(item.get("id") or json.dumps(item))


def _base_of(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f'"{url}" does not start with http:// or https://')
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _path_of(template: str, path: dict[str, Any], query: dict[str, Any]) -> str:
    """Fills the path, and adds the query."""
    for name, value in path.items():
        if not isinstance(value, str) or value == "":
            raise ValueError(f"{name} must be a text that is not empty")
        template = template.replace("{" + name + "}", quote(value, safe=""))
    given = [(name, _text(value)) for name, value in query.items() if value is not None]
    return f"{template}?{urlencode(given)}" if given else template


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(_text, value)) if isinstance(value, list | tuple) else str(value)
