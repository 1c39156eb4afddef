"""Checks that the data of an image has the format that the image claims.

The rules are Glance's, which reads the data with the same library: unknown data is raw, and an
image that claims to be raw may contain anything.
"""

from collections.abc import Iterator
import typing

from oslo_utils.imageutils import format_inspector

from nova_lite.simcloud import database
from nova_lite.simcloud import faults

UNSUPPORTED = 415
INSPECTED = 'bare'  # other container formats may hold several images
ISO = 'iso'


class Inspection:
    """Inspects the data of an image while it is read. row: the row of the image"""

    def __init__(self, row: database.Row, parts: Iterator[bytes]) -> None:
        self._format = row['disk_format']
        self.parts = parts
        self._inspector: format_inspector.InspectWrapper | None = None
        if row['container_format'] == INSPECTED:
            # InspectWrapper only iterates over its source.
            source = typing.cast(typing.IO[bytes], parts)
            self.parts = self._inspector = format_inspector.InspectWrapper(source)

    def virtual_size(self) -> int | None:
        """Return the size of the disk, or None. Raise a fault for data of another format.

        Call this only after all parts were read.
        """
        if self._inspector is None:
            return None
        try:
            found = self._found(self._inspector)
            found.safety_check()
        except (format_inspector.ImageFormatError, format_inspector.SafetyCheckFailed) as error:
            raise faults.of_status(UNSUPPORTED, str(error)) from error
        if str(found) == self._format:
            return found.virtual_size or None
        return found.actual_size or None if self._format == 'raw' else None

    def _found(self, inspector: format_inspector.InspectWrapper) -> format_inspector.FileInspector:
        """Return the inspector of the format that the data has. Raise ImageFormatError."""
        names = {str(each): each for each in inspector.formats or ()}
        found = names[ISO] if names.keys() == {ISO, 'gpt'} else inspector.format
        if found is None:
            raise format_inspector.ImageFormatError('The image has no data')
        is_unknown = str(found) == 'raw' and self._format not in format_inspector.ALL_FORMATS
        if not is_unknown and self._format not in ('raw', str(found)):
            raise format_inspector.ImageFormatError(
                f'Image disk_format {self._format} does not match stream data {found}'
            )
        return found
