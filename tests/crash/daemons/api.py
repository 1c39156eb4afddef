"""The api daemon with the hooks of the tests."""

from nova_lite.cmd import api
from tests.crash import hooks

if __name__ == '__main__':
    hooks.install()
    api.main()
