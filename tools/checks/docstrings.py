"""First words of docstrings: those of the product's functions say what the function does.

ruff finds other forms of verbs (D401). The words in FIRST begin what is returned, or a verb of
speech. Docstrings of modules and classes name the thing; so may those of functions in tests.
"""

import ast
from collections.abc import Iterator

from tools import checks

# Words that name nothing, and verbs for people: no docstring begins with them.
NAMELESS = {
    'have', 'how', 'let', 'nothing', 'say', 'tell', 'that', 'those',
    'what', 'when', 'where', 'whether', 'which', 'who', 'whoever',
}  # fmt: skip

FIRST = NAMELESS | {
    'a', 'all', 'an', 'as', 'each', 'every', 'everything', 'its', 'no', 'of', 'one', 'the',
    'their', 'these',
}  # fmt: skip


def check(source: checks.Source) -> Iterator[checks.Problem]:
    """Yield a problem for each docstring that begins with such a word."""
    if not source.is_python:
        return
    is_product = source.path.startswith('nova_lite/')
    for node in source.statements:
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first = (ast.get_docstring(node) or 'Return').split(maxsplit=1)[0]
        if is_product and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if first.lower() in FIRST or not first[0].isalpha():
                yield checks.Problem(
                    source.path, node.lineno, '%s: begin the docstring with a verb' % node.name
                )
        elif first.lower() in NAMELESS:
            line = getattr(node, 'lineno', 1)
            yield checks.Problem(source.path, line, 'begin the docstring with the thing')
