"""A flavor and an image, as the rules read them."""

import dataclasses
import typing

from oslo_utils import strutils

Values: typing.TypeAlias = typing.Mapping[str, typing.Any]


@dataclasses.dataclass(frozen=True)
class Asked:
    """A request for a guest. memory_mb in MiB; properties: those of the image.

    devices: requests for PCI devices, in the format of records
    ports: requested networks, or entries of network_info
    """

    vcpus: int
    memory_mb: int
    specs: Values
    properties: Values
    flavor_name: str
    image_name: str
    image_id: str
    devices: typing.Sequence[Values] = ()
    ports: typing.Sequence[Values] = ()

    @classmethod
    def of(
        cls,
        flavor: Values,
        properties: Values,
        *,
        image_name: str = '',
        image_id: str = '',
        ports: typing.Sequence[Values] = (),
    ) -> typing.Self:
        """Return a request for a guest of a flavor, in the format of records."""
        return cls(
            vcpus=flavor['vcpus'],
            memory_mb=flavor['memory_mb'],
            specs=flavor.get('extra_specs') or {},
            properties=properties,
            flavor_name=flavor['name'],
            image_name=image_name,
            image_id=image_id,
            devices=flavor.get('devices') or (),
            ports=ports,
        )

    def spec(self, name: str, namespace: str = 'hw') -> str | None:
        """Return the flavor's `NAMESPACE:NAME`, or None."""
        return _text(self.specs.get(f'{namespace}:{name}'))

    def prop(self, name: str, namespace: str = 'hw') -> str | None:
        """Return the image's `NAMESPACE_NAME`, or None."""
        return _text(self.properties.get(f'{namespace}_{name}'))

    def truths(self, name: str) -> tuple[bool | None, bool | None]:
        """Return whether flavor and image turn NAME on; None where one does not mention it."""
        return _truth(self.spec(name)), _truth(self.prop(name))


def amount(value: object) -> int | None:
    """Return the amount that an extra spec names, or None if it is no number or negative."""
    try:
        found = int(str(value))
    except ValueError:
        return None
    return found if found >= 0 else None


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _truth(text: str | None) -> bool | None:
    return None if text is None else bool(strutils.bool_from_string(text))
