"""The invariants of a cloud, and the snapshots of a cloud in which they are checked.

`reader` reads databases, placement, neighbours and guests; `invariants` are plain
functions over it; `settling` reads again while work in progress may explain what was
found. The command line is `nova_lite.cmd.verify`.
"""
