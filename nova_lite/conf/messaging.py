"""Options of oslo.messaging: our defaults for some, and their registration.

The sample file has these options from oslo.messaging's own list.
"""

from oslo_config import cfg

from nova_lite.private_apis import messaging

# With these values a restarted broker is found soon, and the reply queue of a killed process is
# deleted soon.
cfg.set_defaults(
    messaging.impl_rabbit.rabbit_opts,
    rabbit_interval_max=5,
    rabbit_transient_queues_ttl=300,
)
# oslo.messaging's own default is to retry without limit.
cfg.set_defaults(messaging.NOTIFIER_OPTIONS, retry=1)


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options that oslo.messaging does not register when a bus is opened."""
    messaging.register_options(conf)
    conf.register_opts(messaging.NOTIFIER_OPTIONS, group='oslo_messaging_notifications')
