"""Names of resource classes and traits, by their numbers in placement's tables."""

from tests.sim.world.placement import tables


class Names:
    """Read once: only the real placement changes them, which makes the double `forget` them."""

    def __init__(self, connection):
        self._connection = connection
        self.forget()

    def forget(self):
        """Read the names again when one is needed."""
        self._names, self._numbers = {}, {}

    def of_class(self, number):
        """Return the name of a resource class."""
        return self._read('resource_classes')[0][number]

    def of_trait(self, number):
        """Return the name of a trait."""
        return self._read('traits')[0][number]

    def class_of(self, name):
        """Return the number of a resource class. Raise LeftToReal if there is none."""
        return _known(self._read('resource_classes')[1], name)

    def trait_of(self, name):
        """Return the number of a trait. Raise LeftToReal if there is none."""
        return _known(self._read('traits')[1], name)

    def _read(self, table):
        if table not in self._names:
            rows = self._connection.execute(f'SELECT id, name FROM {table}').fetchall()
            self._names[table] = dict(rows)
            self._numbers[table] = {name: number for number, name in rows}
        return self._names[table], self._numbers[table]


def _known(numbers, name):
    if name not in numbers:
        raise tables.LeftToReal
    return numbers[name]
