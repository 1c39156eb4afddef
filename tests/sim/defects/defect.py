"""The columns of the tables of defects."""

import collections

# name; what it does; theme: of the histories in which it is searched for
# edits: ((file below nova_lite, text that is there once, text in its place), ...)
Defect = collections.namedtuple('Defect', 'name what theme edits')
