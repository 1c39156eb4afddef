"""An image for the disk of a guest. Its id is the saga's."""

from collections.abc import Callable
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import saga
from nova_lite.moves import part
from nova_lite.moves import places

if typing.TYPE_CHECKING:
    from nova_lite.moves import move as moves

LOG = log.getLogger(__name__)


class Snapshot(part.Part):
    """pattern: of the image's name, with %s for the server's name

    is_wanted: (move) -> whether there is an image; not if all disks are volumes
    properties: of the image
    """

    def __init__(
        self,
        move: 'moves.AnyMove',
        pattern: str,
        *,
        is_wanted: Callable[[typing.Any], bool] = lambda move: True,
        properties: dict[str, str] | None = None,
    ) -> None:
        super().__init__(move)
        self._pattern = pattern
        self._is_wanted, self._properties = is_wanted, properties

    @property
    def id(self) -> str | None:
        return self.move.uuid if self._is_wanted(self.move) else None

    def step(self, name: str, do: saga.Effect) -> saga.Step:
        """Return the step that creates the image. do: the effect, which calls `queue`"""
        return places.IMAGES.step(name, do, self.drop, clean=saga.Clean(self.drop))

    def queue(self) -> str | None:
        """Create the image, without data yet. Return its id, or None."""
        move, image_id = self.move, self.id
        if image_id is not None:
            row = move.row()
            move.world.image.create_snapshot(
                move.ctxt,
                self._pattern % row.display_name,
                row,
                properties=self._properties,
                image_id=image_id,
            )
        return image_id

    def dropping(self, name: str, **options: typing.Any) -> saga.Step:
        """Return the step that deletes the image when it is not needed. options: of saga.Step"""
        return places.IMAGES.best_effort(name, self.drop, clean=saga.Clean(self.drop), **options)

    def drop(self) -> None:
        """Delete the image, if it exists. One that its owner has protected stays."""
        move = self.move
        try:
            move.world.image.delete(move.ctxt, move.uuid, missing_ok=True)
        except exception.Forbidden as error:
            if not self._is_protected():
                raise
            LOG.warning('Image %s of a move stays: %s', move.uuid, error)

    def _is_protected(self) -> bool:
        try:
            return bool(self.move.world.image.get(self.move.ctxt, self.move.uuid)['protected'])
        except exception.ImageNotFound:
            return True
