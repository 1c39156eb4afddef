"""Stand-ins for the services around a compute control plane.

One WSGI application (`app.make_app`) with the parts of Keystone v3, Glance v2,
Neutron v2.0, Cinder v3 and Manila v2 that nova, its clients and keystonemiddleware call,
over one database of its own. The rest of nova_lite reaches simcloud by REST only, as it would
reach the real services. Each service is a package. Their common modules are here.
"""
