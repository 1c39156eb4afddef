"""Names of security groups, kept for a while: responses about servers have them."""

from collections.abc import Iterable
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite.clients import cache
from nova_lite.clients import network_lists
from nova_lite.clients import network_reads
from nova_lite.clients import session

LOG = log.getLogger(__name__)
DEFAULT = 'default'
# The network service refuses to rename a group with this name.
DEFAULT_KNOWN_S = 3600.0
KNOWN_S = 10.0
# Limit for each connect and each read of a request to the network service, of which a response
# may need several. It does not hold for Keystone, which may have to be asked for the endpoint.
# If the service does not answer, no other response asks it for some time.
TIMEOUT_S = 2.0
SILENT_S = 30.0
SERVICE = 'network'
# Name of a group that the caller may not see.
HIDDEN = ''
# The attributes of a token by which the network service decides about permissions: callers with
# equal attributes see the same names.
# A policy of Neutron's that tells users of one project apart who have the same roles is not
# followed before the names have expired.
Caller: typing.TypeAlias = tuple[str | None, str | None, bool | None, frozenset[str]]
Key: typing.TypeAlias = tuple[Caller, str]


class GroupNames:
    """Names by id, as their users may see them."""

    def __init__(self, network: network_reads.Reads) -> None:
        self._network = network
        self._defaults: cache.Cache[Key, str] = cache.Cache(DEFAULT_KNOWN_S)
        self._others: cache.Cache[Key, str] = cache.Cache(KNOWN_S)
        self._silent: cache.Cache[str, bool] = cache.Cache(SILENT_S)

    def of(self, ctxt: session.Ctxt, ids: Iterable[str]) -> dict[str, str] | None:
        """Return {id: name} of the groups that the caller may see, asking with their token.

        Return None if the network service refuses the caller, does not answer, or did not answer a
        short time ago.
        """
        caller = _caller(ctxt)
        found = {group: self._known(caller, group) for group in ids}
        unknown = sorted(group for group, name in found.items() if name is None)
        if unknown:
            if self._silent.get(SERVICE):
                return None
            try:
                found.update(self._ask(ctxt, caller, unknown))
            except exception.Unavailable as error:
                self._silent.put(SERVICE, True)
                LOG.warning(
                    'Cannot read the names of security groups: %s. Showing the recorded names of '
                    'all servers for %s s.',
                    error,
                    int(SILENT_S),
                )
                return None
            except exception.NovaLiteError as error:
                LOG.info(
                    'Cannot read the names of security groups for user %s of project %s: %s. '
                    'Showing the recorded names.',
                    ctxt.user_id,
                    ctxt.project_id,
                    error,
                )
                return None
        return {group: name for group, name in found.items() if name}

    def _known(self, caller: Caller, group: str) -> str | None:
        key = caller, group
        return self._defaults.get(key) or self._others.get(key)

    def _ask(self, ctxt: session.Ctxt, caller: Caller, ids: list[str]) -> dict[str, str]:
        found = dict.fromkeys(ids, HIDDEN)
        groups = network_lists.read(
            self._network.service,
            ctxt,
            'security-groups',
            {'id': ids, 'fields': ['id', 'name']},
            as_user=True,
            timeout=TIMEOUT_S,
            once=True,
        )
        found.update((group['id'], group['name'] or group['id']) for group in groups)
        for group, name in found.items():
            kept = self._defaults if name == DEFAULT else self._others
            kept.put((caller, group), name)
        return found


def _caller(ctxt: session.Ctxt) -> Caller:
    return ctxt.project_id, ctxt.system_scope, ctxt.is_admin, frozenset(ctxt.roles)
