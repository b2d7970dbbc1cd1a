"""A webhook from source to receiver and a replay, with the client that openapi-python-client makes."""

import importlib
import json
import os
import pkgutil
import time
from io import BytesIO

import made
from made import AuthenticatedClient
from made.api.access import get_caller
from made.api.deliveries import list_deliveries
from made.api.destinations import create_destination
from made.api.events import get_event, list_events, replay_event
from made.api.ingest import receive
from made.api.routes import create_route
from made.api.sources import create_source
from made.models import (
    AcceptedEvent,
    CreateRouteRequest,
    CreateSourceRequest,
    Error,
    EventStatus,
    HttpDestination,
    HttpDestinationInput,
    ReplayEventRequest,
)
from made.types import File

# All of it can be imported.
for module in pkgutil.walk_packages(made.__path__, "made."):
    importlib.import_module(module.name)

client = AuthenticatedClient(
    base_url=os.environ["HOOKYARD_URL"], token=os.environ["HOOKYARD_API_KEY"], raise_on_unexpected_status=True
)


def delivered(org_id: str, event_id: str) -> None:
    while get_event.sync(org_id, event_id, client=client).status != EventStatus.DELIVERED:
        time.sleep(0.1)


organization = get_caller.sync(client=client).organization
source = create_source.sync(organization.id, client=client, body=CreateSourceRequest(name="Python", slug="python"))
destination = create_destination.sync(
    client=client, body=HttpDestinationInput(name="Python", url=os.environ["RECEIVER"])
)
assert isinstance(destination, HttpDestination), destination
create_route.sync(
    client=client, body=CreateRouteRequest(name="Python", source_id=source.id, destination_ids=[destination.id])
)
accepted = receive.sync(
    organization.slug, source.slug, client=client, body=File(payload=BytesIO(b'{"by":"openapi-python-client"}'))
)
assert isinstance(accepted, AcceptedEvent), accepted
delivered(organization.id, accepted.event_id)

# It repeats a parameter that has several values, also where they are to be separated by commas; so one.
page = list_events.sync(organization.id, client=client, status=[EventStatus.DELIVERED])
replay = replay_event.sync(organization.id, accepted.event_id, client=client, body=ReplayEventRequest())
parts = list_deliveries.sync(client=client, event_id=accepted.event_id, cursor="first")
refused = get_event.sync(organization.id, "evt_none", client=client)
assert isinstance(refused, Error), refused
print(json.dumps([len(page.data), replay.deliveries_created, len(parts.data), refused.code]))
