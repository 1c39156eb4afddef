"""[notifications] and [oslo_messaging_notifications]: what is told on the buses."""

from oslo_config import cfg
from oslo_messaging.notify import notifier

GROUP = 'notifications'
OSLO_GROUP = 'oslo_messaging_notifications'
OPTS = [
    cfg.StrOpt(
        'notification_format',
        default='versioned',
        choices=('versioned', 'unversioned', 'both'),
        help='Format of notifications. Of the unversioned ones there are those of servers alone.',
    ),
    cfg.ListOpt(
        'versioned_notifications_topics',
        default=['versioned_notifications'],
        help='Topics of versioned notifications; the priority is added to each.',
    ),
    cfg.StrOpt(
        'notify_on_state_change',
        choices=('vm_state', 'vm_and_task_state'),
        help='Of which changes instance.update tells; unset: of none.',
    ),
    cfg.StrOpt(
        'default_level',
        default='INFO',
        choices=('DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'),
        help='Priority of notifications; failures have ERROR.',
    ),
    cfg.BoolOpt(
        'bdms_in_notifications',
        default=False,
        help='Tell the block devices of servers, which costs a query for each notification.',
    ),
    cfg.IntOpt(
        'queue_size',
        default=10000,
        min=1,
        help='Notifications that wait in a process for each bus; more are dropped.',
    ),
    cfg.FloatOpt(
        'pause_s',
        default=10.0,
        min=0.1,
        help='Seconds for which notifications are dropped after a bus could not be reached.',
    ),
]

# oslo.messaging's own default tries for ever.
cfg.set_defaults(notifier._notifier_opts, retry=1)


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)
    conf.register_opts(notifier._notifier_opts, group=OSLO_GROUP)


def list_opts():
    """(group, options) pairs for the sample file; oslo.messaging lists its own."""
    return [(GROUP, OPTS)]
