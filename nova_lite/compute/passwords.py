"""Administrator passwords in guests.

A password is in no record, so a change that a restart interrupts is given up.
"""

import functools

from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.compute import guest_work
from nova_lite.compute import guests
from nova_lite.compute import power
from nova_lite.compute import site
from nova_lite.objects import instance as objects
from nova_lite.virt import model

ACTION = 'set_admin_password'


def check(site: site.Site, host: str, uuid: str, *, has_agent: bool) -> None:
    """Raise unless a password can be set in the guest now.

    has_agent: whether the image says that the guest has the QEMU guest agent
    Raises NotImplementedHere, GuestAgentNotEnabled or PasswordSetFailed.
    """
    node = site.node_with(host, uuid)
    support = site.driver.get_password_support(node)
    if support is model.PasswordSupport.NEVER:
        raise exception.NotImplementedHere('Unable to set password on instance')
    if support is model.PasswordSupport.AGENT and not has_agent:
        raise exception.GuestAgentNotEnabled()
    if guests.power_state(site.driver, node, uuid) is not states.PowerState.RUNNING:
        raise exception.PasswordSetFailed(instance_id=uuid, reason='instance is not running')


def change(
    site: site.Site,
    ctxt: context.RequestContext,
    host: str,
    instance: objects.Instance,
    password: str,
) -> guest_work.Work[None]:
    """Set the password; work for `guest_work`."""
    start = functools.partial(site.driver.set_admin_password, password=password)
    return power.act(site, ctxt, host, instance, name=ACTION, start=start)
