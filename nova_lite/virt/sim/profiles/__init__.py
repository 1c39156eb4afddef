"""The profiles of hosts that come with nova_lite, a file each."""
