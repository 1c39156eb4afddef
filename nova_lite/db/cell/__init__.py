"""A cell's database: servers and their children, services, compute nodes, migrations."""
