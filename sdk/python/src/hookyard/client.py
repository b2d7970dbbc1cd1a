"""The client."""

from __future__ import annotations

from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import urllib3

from ._call import Settings
from ._operations import VERSION, Operations


class Hookyard(Operations):
    """A client. Nothing is sent until you call a method. Threads may share a client.

    Methods raise HookyardError. Responses are the dictionaries that the API returns.
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
    ) -> None:
        """Creates a client.

        `url`: the service URL, for example `https://hooks.example.com`. May have a path.
        `api_key`: `whr_...`. Without it, only public operations work.
        `timeout`: deadline of each request, including the response body, in seconds.
        `max_retries`: maximum number of retries of a request; 0 never retries.
        `max_wait`: maximum total wait of a call between retries, in seconds.
        """
        settings = Settings(
            url=_base_of(url),
            api_key=api_key,
            timeout=timeout,
            max_retries=max_retries,
            max_wait=max_wait,
            user_agent=user_agent or f"hookyard-python/{VERSION}",
            pool=urllib3.PoolManager(maxsize=10),
        )
        super().__init__(settings)

    def close(self) -> None:
        """Closes idle connections."""
        self._settings.pool.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _base_of(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f'"{url}" must start with http:// or https://')
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
