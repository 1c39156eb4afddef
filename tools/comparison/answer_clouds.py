"""The options with which both clouds of tools.judge_answers run."""

from tools import private_cloud
from tools.comparison import nova_cloud

CELLS, HOSTS = ('cell1', 'cell2'), 3
NOVA, OURS = 'nova', 'here'
# Shelved servers keep their hosts.
OFFLOAD_S = '-1'
# No Neutron reports to nova that a port was plugged.
PLUGGING = {'live_migration_wait_for_vif_plug': 'false'}
CONSOLES = {name: {'enabled': 'true'} for name in ('vnc', 'spice', 'serial_console')}


def novas(environment: str, reclaim_s: int) -> nova_cloud.NovaCloud:
    """Return the fixture of nova's cloud. reclaim_s: after it soft-deleted servers are deleted"""
    default = {'reclaim_instance_interval': str(reclaim_s), 'shelved_offload_time': OFFLOAD_S}
    return nova_cloud.NovaCloud(
        environment,
        CELLS,
        HOSTS,
        notifications=False,
        options={**CONSOLES, 'DEFAULT': default, 'compute': PLUGGING},
    )


def ours(reclaim_s: int) -> private_cloud.Private:
    """Return the fixture of nova_lite's cloud."""
    settings = (
        f'DEFAULT.reclaim_instance_interval={reclaim_s}',
        f'DEFAULT.shelved_offload_time={OFFLOAD_S}',
        'oslo_messaging_notifications.driver=noop',
    )
    return private_cloud.Private(
        ['--cells', str(len(CELLS)), '--hosts', str(HOSTS), '--profile', 'instant',
         *(word for setting in settings for word in ('--set', setting))]
    )  # fmt: skip
