"""How SQLAlchemy speaks to each database server, for the engines of every package.

nova_lite.db, placement and simcloud have engines of their own, and share what lies here.
"""
