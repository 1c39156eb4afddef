"""The program nova-lite. It imports the rest where Ctrl-C ends it without a traceback."""

import sys

INTERRUPTED = 130


def main() -> int:
    """Run the subcommand and return its exit code."""
    try:
        from nova_lite.cmd import main as command

        return command.program()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == '__main__':
    sys.exit(main())
