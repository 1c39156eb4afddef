"""The invariants of ``nova-lite verify --nova``, from the docstrings of its checks."""

from sphinx.util import docutils

from nova_lite.lab.audit import catalogue
from nova_lite.lab.audit import schema


class NovaInvariants(docutils.SphinxDirective):
    """``.. nova-invariants::``: a section for each part, with each of its invariants."""

    def run(self):
        lines = []
        for title, invariants in catalogue.PARTS.items():
            lines += [title, '=' * len(title), '']
            for invariant in invariants:
                lines += [*_lines(invariant), '']
        return self.parse_text_to_nodes('\n'.join(lines), allow_section_headings=True)


def _lines(invariant):
    """Yield the lines of reStructuredText of an invariant."""
    yield f'**{invariant.id}: {invariant.sentence}**'
    yield ''
    yield invariant.meaning
    yield ''
    if invariant.command:
        yield '.. code-block:: console'
        yield ''
        yield f'   $ {invariant.command.replace("{", "<").replace("}", ">")}'
        yield ''
    remark = invariant.remark
    if remark:
        yield remark[0].upper() + remark[1:].rstrip('.') + '.'


class NovaRevisions(docutils.SphinxDirective):
    """``.. nova-revisions::``: the revisions of schemas that are known."""

    def run(self):
        lines = []
        for kind, revisions in schema.REVISIONS.items():
            names = ', '.join(f'``{revision}``' for revision in revisions)
            lines.append(f'* {kind}: {names}')
        return self.parse_text_to_nodes('\n'.join(lines))


def setup(app):
    app.add_directive('nova-invariants', NovaInvariants)
    app.add_directive('nova-revisions', NovaRevisions)
    return {'parallel_read_safe': True}
