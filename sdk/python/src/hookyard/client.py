"""The client."""

from __future__ import annotations

from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import urllib3

from ._call import Settings
from ._operations import VERSION, Operations


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
    ) -> None:
        """Makes a client.

        `url`: where the service is, for example `https://hooks.example.com`; a path is kept.
        `api_key`: `whr_...`; without it only what is open to everyone can be asked for.
        `timeout`: deadline of each request, its answer's body included, in seconds.
        `max_retries`: how often a request is repeated at most; 0 never repeats.
        `max_wait`: how long a call waits between its repeats in all, in seconds.
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
        """Closes the connections that are kept for further calls."""
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
        raise ValueError(f'"{url}" does not start with http:// or https://')
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
