"""Tables of the operations of Nova, and of who has proven them, from the data of the tests."""

from sphinx.util import docutils

from tools.proof import nova
from tools.proof import page
from tools.proof import proven


class _Table(docutils.SphinxDirective):
    """A part of the page; `part` makes its text of the rows."""

    part = staticmethod(page.details)

    def run(self):
        for path in (nova.PATH, proven.PATH):
            self.env.note_dependency(str(path))
        return self.parse_text_to_nodes(self.part(page.rows()))


class Summary(_Table):
    """``.. api-coverage-summary::``: how many operations there are, by kind and by client."""

    part = staticmethod(page.summary)


class Details(_Table):
    """``.. api-coverage::``: every operation."""


def setup(app):
    app.add_directive('api-coverage', Details)
    app.add_directive('api-coverage-summary', Summary)
    return {'parallel_read_safe': True}
