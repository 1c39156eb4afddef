"""The compute daemon with the hooks of the tests."""

from nova_lite.cmd import compute
from tests.crash import hooks

if __name__ == '__main__':
    hooks.install()
    compute.main()
