"""Defects that neighbours show which refuse to release."""

from tests.sim.defects import defect

Defect = defect.Defect

DEFECTS = (
    Defect(
        'refused-deletions-repeated',
        'a deletion without a host that a neighbour refuses is repeated for ever',
        'releases',
        (('lifecycle/refused_deletions.py', 'REPEATED_S = 180', 'REPEATED_S = 10**9'),),
    ),
    Defect(
        'refused-deletions-passed-on',
        'a deletion is accepted, goes on, and is answered with the refusal of a neighbour',
        'releases',
        (
            (
                'api/servers/delete.py',
                '        if error.transient:\n            raise\n',
                '        raise\n',
            ),
        ),
    ),
    Defect(
        'offloads-undo-refused-deletions',
        'an offload takes back the ERROR of a server whose deletion was refused meanwhile',
        'releases',
        (
            (
                'moves/parts/offload.py',
                'if not self._has_failed_deletion(connection, row):',
                'if True:',
            ),
        ),
    ),
    Defect(
        'kept-ports-forgotten',
        'a port that the network service refuses to delete stays, and its server is deleted',
        'releases',
        (
            (
                'clients/network.py',
                "self.service.call(ctxt, 'DELETE', path, errors={404: None})",
                "self.service.call(ctxt, 'DELETE', path, errors=dict.fromkeys((400, 403, 404, 409)))",
            ),
        ),
    ),
)
