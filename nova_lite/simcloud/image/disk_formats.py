"""Checks that the data of an image has the format that the image claims.

The rules are Glance's, which reads the data with the same library: unknown data is raw, and an
image that claims to be raw may contain anything.
"""

from oslo_utils.imageutils import format_inspector

from nova_lite.simcloud import faults

UNSUPPORTED = 415
INSPECTED = 'bare'  # the container format; others may hold several images
ISO = 'iso'


class Inspection:
    """Inspects the data of an image as it passes. row: the image's"""

    def __init__(self, row, parts):
        self._format = row['disk_format']
        self.parts = iter(parts)
        self._inspector = None
        if row['container_format'] == INSPECTED:
            self.parts = self._inspector = format_inspector.InspectWrapper(self.parts)

    def virtual_size(self):
        """Return the size of the disk, or None. Raise a fault for data of another format.

        To be called when all parts were read.
        """
        if self._inspector is None:
            return None
        try:
            found = self._found()
            found.safety_check()
        except (format_inspector.ImageFormatError, format_inspector.SafetyCheckFailed) as error:
            raise faults.of_status(UNSUPPORTED, str(error)) from error
        if str(found) == self._format:
            return found.virtual_size or None
        return found.actual_size or None if self._format == 'raw' else None

    def _found(self):
        """Return the inspector of the format that the data has. Raise ImageFormatError."""
        names = {str(each): each for each in self._inspector.formats}
        found = names[ISO] if names.keys() == {ISO, 'gpt'} else self._inspector.format
        is_unknown = str(found) == 'raw' and self._format not in format_inspector.ALL_FORMATS
        if not is_unknown and self._format not in ('raw', str(found)):
            raise format_inspector.ImageFormatError(
                f'Image disk_format {self._format} does not match stream data {found}'
            )
        return found
