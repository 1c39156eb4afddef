"""Errors about parts that servers lack, with the commands by which an operator adds them."""

from collections.abc import Sequence


class Lacking(ValueError):
    """A server lacks something that a cloud needs.

    fact: sentence about it; remedy: beginning of a sentence that ends with the commands
    """

    def __init__(self, fact: str, remedy: str, commands: Sequence[str]) -> None:
        self.fact, self.commands = fact, commands
        super().__init__(f'{fact}. {remedy} {" and ".join(f"`{each}`" for each in commands)}')


def together(errors: Sequence[Lacking]) -> ValueError:
    """Return one error about all that servers lack, with the commands."""
    if len(errors) == 1:
        return errors[0]
    facts = dict.fromkeys(each.fact for each in errors)
    commands = dict.fromkeys(command for each in errors for command in each.commands)
    lines = [*facts, 'Run these commands, and repeat:', *(f'  {each}' for each in commands)]
    return ValueError('\n'.join(lines))
