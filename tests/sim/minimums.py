"""How often, at least, operations succeed and faults strike in the seeds of the gate."""

SEEDS = range(1, 201)
# {name of a totals.Totals: number}: about a third of what is counted.
AT_LEAST = {}


def of_run(args):
    """Return {name: number} for the histories that `args` ask for. args: see command.parser"""
    whole = args.seeds == SEEDS and not (args.theme or args.chooser)
    return AT_LEAST if whole and args.database == 'sqlite' else {}
