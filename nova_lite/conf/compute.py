"""[compute]: compute daemons and their simulated hosts."""

from oslo_config import cfg

GROUP = 'compute'
OPTS = [
    cfg.ListOpt(
        'hosts',
        default=[],
        help='Names of the hosts that this process serves. NAME[1-20] stands for NAME1 to NAME20. '
        'Empty: only the host named by [DEFAULT]host.',
    ),
    cfg.StrOpt(
        'driver',
        default='sim',
        help='Virtualization driver: "sim" for simulated hosts, or the name of an entry '
        'point of another package in the group nova_lite.compute.drivers.',
    ),
    cfg.StrOpt(
        'profile',
        default='default',
        help='Behaviour profile of the simulated hosts: the name of a bundled profile, or the path of '
        'a YAML file.',
    ),
    cfg.FloatOpt(
        'speed',
        default=1.0,
        min=0.001,
        help='Factor by which simulated operations run faster than in real time. Values below 1 slow '
        'them down.',
    ),
    cfg.StrOpt(
        'failures_file',
        help='File with injected failures of operations of the simulated hosts, which `nova-lite fault` '
        'changes while the daemon runs. Unset: none. `nova-lite up` sets it for its own clouds.',
    ),
    cfg.StrOpt(
        'provider_config_location',
        default='',
        help='Directory of files NAME.yaml with further inventories and traits of resource '
        'providers, in the format of Nova. They are read when the daemon starts. Empty: none.',
    ),
    cfg.StrOpt(
        'cpu_dedicated_set',
        help='CPUs of each host for pinned CPUs of servers, such as "4-15,^8". They are reported as '
        'PCPU. It takes the place of the sets of the profile. Only for hosts whose profile has '
        '"numa".',
    ),
    cfg.StrOpt(
        'cpu_shared_set',
        help='CPUs of each host for CPUs of servers that are not pinned, such as "0-3". They are '
        'reported as VCPU. Unset: all CPUs, or none if cpu_dedicated_set is set. It takes the place '
        'of the sets of the profile. Only for hosts whose profile has "numa".',
    ),
    cfg.BoolOpt(
        'packing_host_numa_cells_allocation_strategy',
        default=False,
        help='Give guests the NUMA nodes of their host with the fewest free dedicated CPUs, or else the '
        'least free memory. If false, the nodes with the most.',
    ),
    cfg.FloatOpt(
        'cpu_allocation_ratio',
        deprecated_group='DEFAULT',
        min=0.0,
        help='Allocation ratio of VCPU inventories. Unset or 0: the ratio stored in placement'
        ' is kept; for new inventories see initial_cpu_allocation_ratio.',
    ),
    cfg.FloatOpt(
        'ram_allocation_ratio',
        deprecated_group='DEFAULT',
        min=0.0,
        help='Allocation ratio of MEMORY_MB inventories. Unset or 0: the ratio stored in placement is '
        'kept; for new inventories see initial_ram_allocation_ratio.',
    ),
    cfg.FloatOpt(
        'disk_allocation_ratio',
        deprecated_group='DEFAULT',
        min=0.0,
        help='Allocation ratio of DISK_GB inventories. Unset or 0: the ratio stored in placement is '
        'kept; for new inventories see initial_disk_allocation_ratio.',
    ),
    cfg.FloatOpt(
        'initial_cpu_allocation_ratio',
        deprecated_group='DEFAULT',
        default=4.0,
        min=0.0,
        help='Allocation ratio of CPU inventories that placement does not have yet.',
    ),
    cfg.FloatOpt(
        'initial_ram_allocation_ratio',
        deprecated_group='DEFAULT',
        default=1.0,
        min=0.0,
        help='Allocation ratio of memory inventories that placement does not have yet.',
    ),
    cfg.FloatOpt(
        'initial_disk_allocation_ratio',
        deprecated_group='DEFAULT',
        default=1.0,
        min=0.0,
        help='Allocation ratio of disk inventories that placement does not have yet.',
    ),
    cfg.IntOpt(
        'reserved_host_cpus',
        deprecated_group='DEFAULT',
        default=0,
        min=0,
        help='Number of vCPUs of each host that are reserved and not available to servers. It must be 0 '
        'with cpu_shared_set or cpu_dedicated_set: CPUs in neither set are reserved.',
    ),
    cfg.IntOpt(
        'reserved_host_memory_mb',
        deprecated_group='DEFAULT',
        default=512,
        min=0,
        help='Memory of each host in MiB that is reserved and not available to servers.',
    ),
    cfg.IntOpt(
        'reserved_host_disk_mb',
        deprecated_group='DEFAULT',
        default=0,
        min=0,
        help='Disk of each host in MiB that is reserved and not available to servers.',
    ),
    cfg.IntOpt(
        'resource_update_interval',
        default=60,
        min=1,
        help='Seconds between two reports of the inventories of the hosts.',
    ),
    cfg.IntOpt(
        'resource_provider_association_refresh',
        default=300,
        min=0,
        help='Seconds between two comparisons of the resource providers of the hosts with what '
        'placement has. Providers, inventories and traits that were deleted or changed there are '
        'registered again. 0 disables the comparison.',
    ),
    cfg.IntOpt(
        'consecutive_build_service_disable_threshold',
        default=10,
        help='0: failed builds of a host are not counted, so that BuildFailureWeigher does not weigh '
        'them. Read by the conductor of the cell.',
    ),
    cfg.IntOpt(
        'audit_interval',
        default=60,
        min=1,
        help='Seconds between two audits that compare the guests of the hosts with the records of '
        'servers.',
    ),
    cfg.IntOpt(
        'stray_grace',
        deprecated_opts=[cfg.DeprecatedOpt('running_deleted_instance_timeout', group='DEFAULT')],
        default=60,
        min=0,
        help='Seconds before a guest that belongs to no server and no migration is destroyed, or what '
        '[DEFAULT]running_deleted_instance_action says. 0: in the first audit that finds it.',
    ),
    cfg.IntOpt(
        'late_requests_s',
        default=60,
        min=0,
        help='Seconds after the start of a compute process during which requests of its predecessor '
        'may still arrive at the network and volume services. Builds that the predecessor had '
        'begun wait this long before they create ports and volumes. 0 disables the wait.',
    ),
    cfg.IntOpt(
        'live_migration_completion_timeout',
        deprecated_group='libvirt',
        default=800,
        min=0,
        help='Seconds allowed for the copy of a live migration per GiB of memory and disk; at least '
        'one GiB is counted. 0 means no limit.',
    ),
    cfg.StrOpt(
        'live_migration_timeout_action',
        deprecated_group='libvirt',
        default='abort',
        choices=('abort', 'force_complete'),
        help='Action when live_migration_completion_timeout expires: abort the migration, or force it '
        'to complete.',
    ),
    cfg.BoolOpt(
        'live_migration_wait_for_vif_plug',
        default=True,
        help='Before a guest is copied by a live migration, wait for the network service to report '
        'that its ports are plugged on the destination. Only ports that are plugged through a '
        'Linux bridge (ovs_hybrid_plug) are waited for: others are plugged when the guest starts '
        'there. Used by the super-conductor.',
    ),
    cfg.IntOpt(
        'max_disk_devices_to_attach',
        default=-1,
        min=-1,
        help='Maximum number of disks of a server, including its root disk. -1 means no limit. Used by'
        ' the API when a volume is attached.',
    ),
    cfg.IntOpt(
        'job_threads',
        default=8,
        min=1,
        max=256,
        help='Maximum number of operations on guests that run at the same time. Operations that wait '
        'for a hypervisor do not count.',
    ),
]
