"""Names of security groups, kept for a while: responses about servers have them."""

from collections.abc import Iterable
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite.clients import cache
from nova_lite.clients import session

if typing.TYPE_CHECKING:
    from nova_lite.clients import network as networks

LOG = log.getLogger(__name__)
DEFAULT = 'default'
# The network service lets no group of this name have another one.
DEFAULT_KNOWN_S = 3600.0
KNOWN_S = 10.0
# A response waits so long for the network service. If it does not answer, no other response asks
# it for some time.
TIMEOUT_S = 2.0
SILENT_S = 30.0
MOST_IDS = 50
# Name of a group that the caller may not see.
HIDDEN = ''
EVERY_PROJECT = None
Key: typing.TypeAlias = tuple[str | None, bool | None, str]


class GroupNames:
    """Names by id, as their users may see them."""

    def __init__(self, network: 'networks.Network') -> None:
        self._network = network
        self._defaults: cache.Cache[Key, str] = cache.Cache(DEFAULT_KNOWN_S)
        self._others: cache.Cache[Key, str] = cache.Cache(KNOWN_S)
        self._silent: cache.Cache[str | None, bool] = cache.Cache(SILENT_S)

    def of(self, ctxt: session.Ctxt, ids: Iterable[str]) -> dict[str, str] | None:
        """Return {id: name} of the groups that the caller may see, asking with their token.

        Return None if the network service does not answer, or has not a short time ago.
        """
        found = {group: self._known(ctxt, group) for group in ids}
        unknown = sorted(group for group, name in found.items() if name is None)
        if unknown:
            if self._silent.get(EVERY_PROJECT) or self._silent.get(ctxt.project_id):
                return None
            try:
                found.update(self._ask(ctxt, unknown))
            except exception.NovaLiteError as error:
                is_away = isinstance(error, exception.Unavailable)
                self._silent.put(EVERY_PROJECT if is_away else ctxt.project_id, True)
                LOG.warning(
                    'Cannot read the names of security groups of project %s: %s. Showing the '
                    'recorded ones of its servers for %s s.',
                    ctxt.project_id,
                    error,
                    int(SILENT_S),
                )
                return None
        return {group: name for group, name in found.items() if name}

    def _known(self, ctxt: session.Ctxt, group: str) -> str | None:
        key = _key(ctxt, group)
        return self._defaults.get(key) or self._others.get(key)

    def _ask(self, ctxt: session.Ctxt, ids: list[str]) -> dict[str, str]:
        found = dict.fromkeys(ids, HIDDEN)
        for at in range(0, len(ids), MOST_IDS):
            body = self._network.service.get(
                ctxt,
                '/security-groups',
                params={'id': ids[at : at + MOST_IDS], 'fields': ['id', 'name']},
                as_user=True,
                timeout=TIMEOUT_S,
                once=True,
            )
            found.update(
                (group['id'], group['name'] or group['id']) for group in body['security_groups']
            )
        for group, name in found.items():
            kept = self._defaults if name == DEFAULT else self._others
            kept.put(_key(ctxt, group), name)
        return found


def _key(ctxt: session.Ctxt, group: str) -> Key:
    return ctxt.project_id, ctxt.is_admin, group
