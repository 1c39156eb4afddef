"""Alembic runs this to run revisions, on the connection that db.schema_migration hands over."""

from alembic import context

given = context.config.attributes
context.configure(connection=given['connection'], target_metadata=given['metadata'])
context.run_migrations()
