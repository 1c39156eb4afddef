"""[notifications]: notifications on the buses."""

from oslo_config import cfg

GROUP = 'notifications'
OPTS = [
    cfg.StrOpt(
        'notification_format',
        deprecated_group='DEFAULT',
        default='versioned',
        choices=('versioned', 'unversioned', 'both'),
        help='Format of notifications. The unversioned format exists for notifications of servers, '
        'metrics.update and volume.usage only.',
    ),
    cfg.ListOpt(
        'versioned_notifications_topics',
        default=['versioned_notifications'],
        help='Topics of versioned notifications. The priority is appended to each.',
    ),
    cfg.StrOpt(
        'notify_on_state_change',
        deprecated_group='DEFAULT',
        choices=('vm_state', 'vm_and_task_state'),
        help='Changes for which instance.update is sent: of vm_state, or of vm_state and task_state. '
        'Unset: instance.update is not sent.',
    ),
    cfg.StrOpt(
        'default_level',
        deprecated_name='default_notification_level',
        deprecated_group='DEFAULT',
        default='INFO',
        choices=('DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'),
        help='Priority of notifications. Notifications of failures have the priority ERROR.',
    ),
    cfg.BoolOpt(
        'bdms_in_notifications',
        default=False,
        help='Include the block devices of servers in notifications. This takes one more query for '
        'each notification.',
    ),
    cfg.BoolOpt(
        'include_share_mapping',
        default=False,
        help='Include the shares of servers in notifications, without their export locations. This '
        'takes one more query for each notification.',
    ),
    cfg.IntOpt(
        'queue_size',
        default=10000,
        min=1,
        help='Maximum number of notifications queued in a process for each bus. Further ones are '
        'dropped.',
    ),
    cfg.FloatOpt(
        'pause_s',
        default=10.0,
        min=0.1,
        help='Seconds for which notifications are dropped after a connection to a bus has failed.',
    ),
]
