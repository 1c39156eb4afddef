"""[oslo_messaging_rabbit]: our defaults for some of oslo.messaging's own options."""

from oslo_config import cfg

from nova_lite.private_apis import messaging

# A broker that comes back is found soon; the queue for the replies to a process that
# was killed goes away soon.
cfg.set_defaults(
    messaging.impl_rabbit.rabbit_opts,
    rabbit_interval_max=5,
    rabbit_transient_queues_ttl=300,
)


def register(_conf: cfg.ConfigOpts) -> None:
    """Nothing: oslo.messaging registers its options when a bus is opened."""


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """None of ours; oslo.messaging lists its own."""
    return []
