"""SQLAlchemy's engines for each kind of database server, for all packages.

nova_lite.db, placement and simcloud have engines of their own, and share this package.
"""
