"""The conductor daemon with the hooks of the tests."""

from nova_lite.cmd import conductor
from tests.crash import hooks

if __name__ == '__main__':
    hooks.install()
    conductor.main()
