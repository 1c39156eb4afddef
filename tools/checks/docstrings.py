"""How the product's docstrings begin: those of functions with what the function does.

ruff finds other forms of verbs (D401). These words begin what is returned, or a verb of speech.
Docstrings of modules and classes name the thing.
"""

import ast

from tools import checks

FIRST = {
    'a', 'all', 'an', 'as', 'each', 'every', 'everything', 'have', 'how', 'its', 'let',
    'no', 'nothing', 'of', 'one', 'say', 'tell', 'that', 'the', 'their', 'these', 'those',
    'what', 'when', 'where', 'whether', 'which', 'who',
}  # fmt: skip

NAMELESS = {'have', 'let', 'what', 'whether'}


def check(source):
    """Yield a problem for each docstring that begins with such a word."""
    if not source.is_python or not source.path.startswith('nova_lite/'):
        return
    for node in source.statements:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = (ast.get_docstring(node) or 'Return').split(maxsplit=1)[0]
            if first.lower() in FIRST or not first[0].isalpha():
                yield checks.Problem(
                    source.path, node.lineno, '%s: begin the docstring with a verb' % node.name
                )
        elif isinstance(node, ast.Module | ast.ClassDef):
            first = (ast.get_docstring(node) or 'The').split(maxsplit=1)[0]
            if first.lower() in NAMELESS:
                line = getattr(node, 'lineno', 1)
                yield checks.Problem(source.path, line, 'begin the docstring with the thing')
