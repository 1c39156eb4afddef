"""Defects that neighbours show which refuse to release, or do not answer for minutes."""

from tests.sim.defects import defect

Defect = defect.Defect

DEFECTS = (
    Defect(
        'refused-deletions-repeated',
        'a deletion without a host that a neighbour refuses is repeated without end',
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
    Defect(
        'outages-end-uploads',
        'an image is given up when the image service does not answer once',
        'uploads',
        (('compute/images.py', "guest_work.repeat(fill, 'Snapshot')", 'fill()'),),
    ),
    Defect(
        'failed-images-left',
        'the empty image of a failed snapshot stays if the image service does not answer',
        'uploads',
        (
            (
                'compute/images.py',
                'yield from guest_work.insist(site.image.delete, ctxt, image_id, missing_ok=True)',
                'yield from ()\n        site.image.delete(ctxt, image_id, missing_ok=True)',
            ),
        ),
    ),
)
