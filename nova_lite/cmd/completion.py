"""nova-lite completion: print a script that completes commands, options and values in a shell.

Keep it in a file, and print it again after an upgrade: it takes seconds. bash-completion and fish
load the files below by themselves; zsh needs a line `source ~/.nova-lite.zsh` in ~/.zshrc.

Examples: nova-lite completion bash > ~/.local/share/bash-completion/completions/nova-lite
          nova-lite completion zsh > ~/.nova-lite.zsh
          nova-lite completion fish > ~/.config/fish/completions/nova-lite.fish
"""

import argparse

from nova_lite.cmd import main
from nova_lite.lab.console import completion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument('shell', choices=completion.SHELLS, help='the shell')


def run(args: argparse.Namespace) -> None:
    """Print the script."""
    found = completion.commands(lambda argv: main.parser(argv[:1]).parse_args(argv))
    print(completion.SHELLS[args.shell]([*found]), end='')
