"""openstacksdk connections from a cloud's clouds.yaml, and from nothing else."""

from openstack import connection
from openstack.config import loader


def connect(path, name='nova-lite', **options):
    """Return a Connection to the cloud called `name` in the file at `path`."""
    config = loader.OpenStackConfig(config_files=[path], load_envvars=False)
    return connection.Connection(config=config.get_one(name, **options))
