"""Alembic runs this module to run revisions, on the connection of db.schema_migration."""

from alembic import context

given = context.config.attributes
context.configure(connection=given['connection'], target_metadata=given['metadata'])
context.run_migrations()
