"""The file that describes a cloud: `nova-lite up -f`, and `nova-lite up --print-config`."""
