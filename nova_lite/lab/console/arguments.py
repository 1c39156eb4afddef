"""Parsers of arguments, and how --help shows the docstring of a command."""

import argparse
from collections.abc import Sequence
import shutil
import textwrap


class Parser(argparse.ArgumentParser):
    """Refuse an unknown option of a command with the usage of that command, not of its parent."""

    def parse_known_args(  # type: ignore[override]  # fewer overloads
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Return (arguments, []), or end the process."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f'unrecognized arguments: {" ".join(unknown)}')
        return found, unknown


def described(text: str) -> str:
    """Return a docstring for --help: paragraphs fit the terminal, examples keep their lines."""
    width = shutil.get_terminal_size().columns - 2
    return '\n\n'.join(
        part if part.startswith('Example') else textwrap.fill(part, width, break_on_hyphens=False)
        for part in text.strip().split('\n\n')
    )
