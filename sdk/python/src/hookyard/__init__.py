"""Client for Hookyard, a webhook router; also verifies the webhooks that Hookyard delivers."""

from . import _types as types
from ._call import Options, Raw
from .client import Hookyard
from .errors import Detail, HookyardError
from .webhooks import VerifiedWebhook, WebhookVerificationError, verify_webhook

__all__ = [
    "Detail",
    "Hookyard",
    "HookyardError",
    "Options",
    "Raw",
    "VerifiedWebhook",
    "WebhookVerificationError",
    "types",
    "verify_webhook",
]
