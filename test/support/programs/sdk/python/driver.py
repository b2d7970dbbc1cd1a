"""Does with the Python SDK what a test asks for: driver.py <what>, with JSON on standard input and output."""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import urllib3

from hookyard import Hookyard, HookyardError, Options, Raw, WebhookVerificationError, types, verify_webhook


def client_of(given: dict[str, Any]) -> Hookyard:
    names = ("timeout", "max_retries", "max_wait")
    return Hookyard(given["url"], given.get("api_key"), **{name: given[name] for name in names if name in given})


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return {"answer": call()}
    except HookyardError as error:
        return {
            "status": error.status,
            "code": error.code,
            "message": str(error),
            "details": [[detail.path, detail.message] for detail in error.details],
            "request_id": error.request_id,
            "retry_after": error.retry_after,
            "idempotency_key": error.idempotency_key,
        }


def story(given: dict[str, Any]) -> Any:
    with client_of(given) as hookyard:
        source = hookyard.create_source({"name": "Python", "slug": "sdk"})
        destination = hookyard.create_destination(
            {"name": "SDK", "url": given["receiver"], "signingSecret": given["secret"]}
        )
        hookyard.create_route({"name": "SDK", "sourceId": source["id"], "destinationIds": [destination["id"]]})
        urllib3.request("POST", source["webhookUrl"], json={"by": "sdk"})
        event = next(hookyard.each_events(source_id=source["id"]))
        while hookyard.get_event(event["id"])["status"] != "delivered":
            time.sleep(0.1)
        replay = hookyard.replay_event(event["id"])
        payload = hookyard.get_event_payload(event["id"])
        assert isinstance(payload, Raw)
        page = hookyard.list_events(status=["delivered", "pending"])
        parts = hookyard.list_deliveries(cursor="first", event_id=event["id"], with_total=True)
        unknown = outcome(lambda: hookyard.get_event("evt_none"))
        etags: list[str] = []
        hookyard.get_destination(destination["id"], options=Options(on_etag=etags.append))
        changes: types.HttpDestinationChanges = {"description": None}
        changed = outcome(
            lambda: hookyard.update_destination(destination["id"], changes, options=Options(if_match='"999"'))
        )
        hookyard.delete_source(source["id"])
        return {
            "events": len(page["data"]),
            "replayed": replay["deliveriesCreated"],
            "deliveries": len(parts["data"]),
            "payload": json.loads(payload.content),
            "unknown": unknown["code"],
            "etags": len(etags),
            "changed": changed["code"],
        }


def lists(given: dict[str, Any]) -> Any:
    hookyard = client_of(given)
    return {
        "filters": [item["name"] for item in hookyard.each_filters(page_size=3)],
        "providers": len({item["name"] for item in hookyard.each_providers(page_size=20)}),
        "events": [item["id"] for item in hookyard.each_events(page_size=2)],
    }


def verify(given: dict[str, Any]) -> Any:
    def fits(case: dict[str, Any]) -> bool:
        try:
            verify_webhook(case["body"].encode(), case["headers"], case["secrets"], now=case["now"])
        except WebhookVerificationError:
            return False
        return True

    return [fits(case) for case in given["cases"]]


COMMANDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "story": story,
    "lists": lists,
    "verify": verify,
    "alive": lambda given: outcome(client_of(given).is_alive),
    "create": lambda given: outcome(lambda: client_of(given).create_api_key({"name": "Key"})),
    "delete": lambda given: outcome(lambda: client_of(given).delete_route("rte_1")),
}

print(json.dumps(COMMANDS[sys.argv[1]](json.load(sys.stdin))))
