"""[compute]: compute daemons and their simulated hosts."""

from oslo_config import cfg

GROUP = 'compute'
OPTS = [
    cfg.ListOpt(
        'hosts',
        default=[],
        help='Names of the hosts this process stands for; NAME[1-20] counts. Empty: '
        'the name in [DEFAULT]host.',
    ),
    cfg.StrOpt('driver', default='sim', help='Virtualisation driver.'),
    cfg.StrOpt(
        'profile',
        default='default',
        help="Behaviour of the simulated hosts: a bundled profile's name or the path "
        'of a YAML file.',
    ),
    cfg.FloatOpt(
        'speed',
        default=1.0,
        min=0.001,
        help='How many times faster than real the simulated operations run.',
    ),
    cfg.FloatOpt('cpu_allocation_ratio', min=0.0, help='Overrides the ratio in placement.'),
    cfg.FloatOpt('ram_allocation_ratio', min=0.0, help='Overrides the ratio in placement.'),
    cfg.FloatOpt('disk_allocation_ratio', min=0.0, help='Overrides the ratio in placement.'),
    cfg.FloatOpt(
        'initial_cpu_allocation_ratio',
        default=4.0,
        min=0.0,
        help='Ratio for a provider that has none yet.',
    ),
    cfg.FloatOpt(
        'initial_ram_allocation_ratio',
        default=1.0,
        min=0.0,
        help='Ratio for a provider that has none yet.',
    ),
    cfg.FloatOpt(
        'initial_disk_allocation_ratio',
        default=1.0,
        min=0.0,
        help='Ratio for a provider that has none yet.',
    ),
    cfg.IntOpt('reserved_host_cpus', default=0, min=0, help='vCPUs kept from servers.'),
    cfg.IntOpt(
        'reserved_host_memory_mb', default=512, min=0, help='Memory kept from servers, in MiB.'
    ),
    cfg.IntOpt('reserved_host_disk_mb', default=0, min=0, help='Disk kept from servers, in MiB.'),
    cfg.IntOpt(
        'resource_update_interval',
        default=60,
        min=1,
        help='Seconds between two reports of inventories.',
    ),
    cfg.IntOpt(
        'audit_interval',
        default=60,
        min=1,
        help='Seconds between two audits of guests against records.',
    ),
    cfg.IntOpt(
        'stray_grace',
        default=60,
        min=0,
        help='Seconds a guest that no server and no move owns is left alone before it is '
        'destroyed; 0 destroys it in the first audit that finds it.',
    ),
    cfg.IntOpt(
        'late_requests_s',
        default=60,
        min=0,
        help='Seconds after the start of a compute process in which requests of a former one may '
        'arrive at the network and volume services. Builds that it had begun wait so long '
        'before they make ports and volumes; 0 does not wait.',
    ),
    cfg.IntOpt(
        'live_migration_completion_timeout',
        default=800,
        min=0,
        help='Seconds the copy of a live migration may take for each GiB of memory and '
        'disk, at least one; 0 for no limit.',
    ),
    cfg.StrOpt(
        'live_migration_timeout_action',
        default='abort',
        choices=('abort', 'force_complete'),
        help='What becomes of a copy that takes longer.',
    ),
    cfg.IntOpt(
        'max_disk_devices_to_attach',
        default=-1,
        min=-1,
        help='Most disks that a server on a host may have, its root disk counted; -1 for any '
        'number. Read by the API when a volume is to be attached.',
    ),
    cfg.IntOpt(
        'job_threads',
        default=8,
        min=1,
        max=256,
        help='Operations on guests that go on at the same time; those that wait for a '
        'hypervisor do not count.',
    ),
]


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    """(group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
