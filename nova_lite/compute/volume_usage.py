"""Reports of the counters of volumes, if [DEFAULT]volume_usage_poll_interval asks for them."""

from collections.abc import Sequence

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite.compute import site
from nova_lite.rpc.methods import conductor_usage
from nova_lite.virt import model

LOG = log.getLogger(__name__)

# Number of volumes per report.
BATCH = 500


def report_all(site: site.Site) -> None:
    """Report the volumes of all running guests of the hosts that are up."""
    occupied = site.driver.occupied_nodes()
    for host in site.up_hosts():
        found = [
            each
            for node in site.nodes[host]
            if node in occupied
            for each in site.driver.list_volume_usage(node)
        ]
        for start in range(0, len(found), BATCH):
            _report(site, context.admin(), host, found[start : start + BATCH])


def report_last(
    site: site.Site, ctxt: context.RequestContext, node: str, guest: str, *, volume_id: str
) -> None:
    """Report a volume that is about to be detached, unless its detachment has begun.

    A report that fails is left out, so that the detachment goes on.
    """
    if site.conf.volume_usage_poll_interval <= 0:
        return
    jobs = site.driver.list_jobs(node, guest)
    if any(job.verb is model.Verb.DETACH_VOLUME and job.subject == volume_id for job in jobs):
        return
    found = site.driver.list_volume_usage(node, guest)
    own = [each for each in found if each.volume_id == volume_id]
    try:
        if own:
            _report(site, ctxt, site.host_of(node), own)
    except exception.NovaLiteError as error:
        LOG.warning(
            'Cannot report the last use of volume %s by server %s: %s. Detaching it anyway.',
            volume_id,
            guest,
            error,
        )


def _report(
    site: site.Site, ctxt: context.RequestContext, host: str, found: Sequence[model.VolumeUsage]
) -> None:
    usage: list[conductor_usage.VolumeUsage] = [
        {
            'instance_uuid': each.guest,
            'volume_id': each.volume_id,
            'since': each.since,
            'at': each.at,
            'reads': each.reads,
            'read_bytes': each.read_bytes,
            'writes': each.writes,
            'write_bytes': each.write_bytes,
        }
        for each in found
    ]
    site.conductor.report_volume_usage(ctxt, host=host, usage=usage)
