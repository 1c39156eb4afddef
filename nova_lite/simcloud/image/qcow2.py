"""An empty disk in the qcow2 format, for the images of a new cloud.

It has four clusters: header, refcount table, refcount block and L1 table. The L1 table is all
zero, so every guest cluster reads as zeros. The format is version 3 of QEMU's specification.
"""

import struct

CLUSTER_BITS = 16
CLUSTER = 1 << CLUSTER_BITS
CLUSTERS = 4
HEADER_BYTES = 104


def _padded(data: bytes) -> bytes:
    return data.ljust(CLUSTER, b'\0')


def empty_disk(virtual_bytes: int) -> bytes:
    """Return the bytes of an image of a disk with `virtual_bytes` zero bytes."""
    per_l1_entry = CLUSTER * (CLUSTER // 8)
    l1_size = -(-virtual_bytes // per_l1_entry)
    # Magic and version, no backing file, the sizes of clusters and of the disk, no encryption.
    disk = struct.pack('>4sIQIIQI', b'QFI\xfb', 3, 0, 0, CLUSTER_BITS, virtual_bytes, 0)
    # Where the L1 table and the one refcount table are; no snapshots.
    places = struct.pack('>IQQIIQ', l1_size, 3 * CLUSTER, CLUSTER, 1, 0, 0)
    # No features; refcounts of 2**4 bits.
    features = struct.pack('>QQQII', 0, 0, 0, 4, HEADER_BYTES)
    refcount_table = struct.pack('>Q', 2 * CLUSTER)
    refcounts = struct.pack(f'>{CLUSTERS}H', *([1] * CLUSTERS))
    return b''.join(map(_padded, (disk + places + features, refcount_table, refcounts, b'')))
