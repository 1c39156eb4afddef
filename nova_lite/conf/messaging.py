"""[oslo_messaging_rabbit]: our defaults for some of oslo.messaging's own options."""

from oslo_config import cfg

from nova_lite.private_apis import messaging

# With these values a restarted broker is found soon, and the reply queue of a killed process is
# deleted soon.
cfg.set_defaults(
    messaging.impl_rabbit.rabbit_opts,
    rabbit_interval_max=5,
    rabbit_transient_queues_ttl=300,
)


def register(_conf: cfg.ConfigOpts) -> None:
    """Do nothing: oslo.messaging registers its options when a bus is opened."""


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return an empty list: oslo.messaging lists its own options."""
    return []
