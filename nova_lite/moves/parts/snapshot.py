"""An image that the disk of a guest is uploaded to; its id is the saga's own."""

from nova_lite import saga
from nova_lite.moves import part
from nova_lite.moves import places


class Snapshot(part.Part):
    """move: the saga; pattern: of the image's name, with %s for the server's

    is_wanted: (move) -> whether there is an image; a server whose disks are volumes needs none
    properties: of the image
    """

    def __init__(self, move, pattern, *, is_wanted=lambda move: True, properties=None):
        super().__init__(move)
        self._pattern = pattern
        self._is_wanted, self._properties = is_wanted, properties

    @property
    def id(self):
        """The image's id, or None."""
        return self.move.uuid if self._is_wanted(self.move) else None

    def step(self, name, do):
        """The step that makes the image. do: the effect, which calls `queue`"""
        return places.IMAGES.step(name, do, self.drop, clean=saga.Clean(self.drop))

    def queue(self):
        """Make the image, without data yet; returns its id, or None."""
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

    def dropping(self, name):
        """The step that deletes an image which has served its purpose."""
        return places.IMAGES.patient(name, self.drop, clean=saga.Clean(self.drop))

    def drop(self):
        """Delete the image, if it was made."""
        self.move.world.image.delete(self.move.ctxt, self.move.uuid, missing_ok=True)
