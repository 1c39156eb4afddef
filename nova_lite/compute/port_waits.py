"""Wait until the ports of a server that is being built are plugged.

After a restart the build is repeated, and finds in the network service which ports have been
plugged. Source: reference/nova/create-server 5.
"""

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import plugging
from nova_lite.clients import session
from nova_lite.compute import guest_work
from nova_lite.compute import site as sites

LOG = log.getLogger(__name__)

# Seconds without an event, which may be lost, until the network service is asked.
POLL_S = 10.0


def wait(
    site: sites.Site, ctxt: context.RequestContext, key: guest_work.Key, network_info: session.Jsons
) -> guest_work.Work[session.Jsons]:
    """Wait until all ports are plugged and return their network_info; work for `guest_work`.

    key: that of the build's work
    Raises NetworksNotAllocated if a port cannot be plugged, or is not plugged in time, unless
    vif_plugging_is_fatal is false: then the guest starts without the port.
    """
    conf, (_host, uuid) = site.conf, key
    seconds = conf.vif_plugging_timeout
    if not seconds or not plugging.down(network_info):
        return network_info
    deadline = runtime.boottime() + seconds
    LOG.info('Server %s waits for ports %s', uuid, ', '.join(plugging.down(network_info)))
    try:
        while True:
            left_s = deadline - runtime.boottime()
            network_info = _look(site, ctxt, key, network_info)
            if not plugging.down(network_info):
                return network_info
            if left_s <= 0:
                raise plugging.timed_out(network_info, seconds)
            yield guest_work.PauseForEvent(min(POLL_S, left_s))
    except exception.VirtualInterfaceCreateException as error:
        if conf.vif_plugging_is_fatal:
            raise exception.NetworksNotAllocated() from error
        LOG.warning('Server %s starts without all of its ports: %s', uuid, error)
        return network_info


def _look(
    site: sites.Site, ctxt: context.RequestContext, key: guest_work.Key, network_info: session.Jsons
) -> session.Jsons:
    """Return network_info updated with the events received, or that of the network service."""
    network_info = plugging.with_events(network_info, site.plugs.of(key))
    if not plugging.down(network_info):
        return network_info
    try:
        return plugging.reread(site.network, ctxt, key[1], network_info)
    except exception.Unavailable as error:
        LOG.warning('Cannot read the status of the ports of server %s: %s', key[1], error)
        return network_info
