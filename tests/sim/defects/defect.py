"""The columns of the tables of defects."""

import collections

# name; what it does; theme: of the histories in which it is searched for
# edits: ((file below nova_lite, text that is there once, text in its place), ...)
# does: names of operations of clients and of administrators that show it, and of attributes of
# plan.Plan that are not zero; the plans of other histories of the theme lack one of them
Defect = collections.namedtuple('Defect', 'name what theme edits does', defaults=((),))
