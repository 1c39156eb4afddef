"""What a port asks of placement, allocated or released as a server gets or loses the port."""

from nova_lite import saga
from nova_lite.clients import port_allocations
from nova_lite.clients import resource_requests
from nova_lite.moves import duties
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.saga import cleaning

# The `allocation` of the port's binding.
CLAIM = saga.Result('allocate-for-port', object)


class PortResources(part.Part):
    """move: the saga; plug: the step that changes the guest, if it attaches or detaches a port"""

    def __init__(self, move, plug=None):
        super().__init__(move)
        self._plug = plug

    def claiming(self, port):
        """The steps that allocate what a port asks for: one, or none. port: None without one"""
        if port is None:
            return ()
        return (
            places.PLACEMENT.step(
                CLAIM,
                lambda: self._claim(port),
                self._give_up,
                clean=saga.Clean(self.release, alone=True),
                title='allocate the resources that the port requests',
            ),
        )

    def _claim(self, port):
        move = self.move
        move.require_free()
        row = move.guest.current()
        move.here.require_up_or_fail(row.host)
        node = move.here.node(row.host, row.node).uuid
        if move.repeated:
            # An earlier attempt may have been given another provider.
            self._release(row, node, but=port['id'])
        return port_allocations.claim(move.world.placement, move.ctxt, row, node, port)

    def _give_up(self):
        """Undo: nothing is held for a port that the server does not have.

        While the guest may have the port it stays the server's; `reconcile` releases it later.
        """
        move = self.move
        if move.is_gone():
            placement = move.world.placement
            placement.delete_allocations(move.ctxt, move.instance_uuid, force=True)
        elif not cleaning.owes(move, self._plug):
            self.release()

    def release(self):
        """Give up what the ports of the server, wherever it is by now, do not need."""
        cell, row = duties.now(self.move)
        if row is not None and row.host is not None:
            self._release(row, cell.node(row.host, row.node).uuid)

    def _release(self, row, node, **options):
        port_allocations.release(self.move.world, self.move.ctxt, row, node, **options)

    def releasing(self, vif):
        """The steps that release what a port has held: one, or none. vif: its network_info"""
        if not vif or not (vif.get('profile') or {}).get(resource_requests.ALLOCATION):
            return ()
        return (
            places.PLACEMENT.best_effort(
                'release-for-port',
                self.release,
                clean=saga.Clean(self.release, alone=True),
                title='release the resources of the port',
            ),
        )
