"""Limits of the lines of files and functions, and of the number of parameters."""

import ast
from collections.abc import Iterable
from collections.abc import Iterator

from tools import checks

FILE_LINES = 400
FUNCTION_LINES = 50
PARAMETERS = 6
POSITIONAL = 4
# What the form of a method, an RPC or a responder dictates.
UNCOUNTED = ('self', 'cls', 'connection', 'ctxt', 'req', 'resp')
# What takes `ctxt` first is the far side of a message, whose fields come by name.
MESSAGE = 8


def check(source: checks.Source) -> Iterator[checks.Problem]:
    """Yield a problem for each file, function and signature that is too long."""
    if not source.is_python:
        return
    lines = len(source.lines)
    if lines > FILE_LINES:
        yield checks.Problem(
            source.path, FILE_LINES + 1, '%d lines, more than %d' % (lines, FILE_LINES)
        )
    for node in source.statements:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _check_function(source.path, node)


def _check_function(
    path: str, node: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[checks.Problem]:
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    if lines > FUNCTION_LINES:
        yield checks.Problem(
            path, node.lineno, '%s: %d lines, more than %d' % (node.name, lines, FUNCTION_LINES)
        )
    positional = _counted(node.args.posonlyargs + node.args.args)
    total = positional + len(node.args.kwonlyargs)
    if [argument.arg for argument in node.args.args[:2]] == ['self', 'ctxt'] and total <= MESSAGE:
        return
    if total > PARAMETERS:
        yield checks.Problem(
            path, node.lineno, '%s: %d parameters, more than %d' % (node.name, total, PARAMETERS)
        )
    elif positional > POSITIONAL:
        yield checks.Problem(
            path,
            node.lineno,
            '%s: %d positional parameters; make those past 3 keyword-only'
            % (node.name, positional),
        )


def _counted(arguments: Iterable[ast.arg]) -> int:
    return len([argument for argument in arguments if argument.arg not in UNCOUNTED])
