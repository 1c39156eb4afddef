"""The invariants of a cloud, and the snapshots of a cloud in which they are checked.

`reader` reads databases, placement, neighbours and guests into a snapshot; `invariants` are plain
functions of the snapshot; `settling` reads again while work in progress may explain a finding. The
command is `nova_lite.cmd.verify`.
"""
