"""Conventions that the services' route tables share."""


def add_crud(app, path, resource, field):
    """The collection at `path`, one member below it (suffix 'one')."""
    app.add_route(path, resource)
    app.add_route(f'{path}/{{{field}}}', resource, suffix='one')
