"""How often, at least, operations succeed and faults strike in the seeds of the gate."""

SEEDS = range(1, 201)
# {name in totals.Totals: number}, clearly below what was counted in some of these seeds.
AT_LEAST = {
    'accepted: evacuate': 2,
    'accepted: live migrate': 8,
    'accepted: live migrate to host': 1,
    'accepted: migrate to host': 3,
    'accepted: resume': 3,
    'accepted: shelve': 5,
    'accepted: suspend': 3,
    'accepted: unshelve': 2,
    'fault: call: twice': 20,
    'fault: placement change: answers 503': 3,
    'fault: placement change: lost answer': 9,
    'fault: placement change: lost request': 3,
    'fault: placement change: refused': 3,
    'fault: power off': 2,
    'fault: reply: lost': 4,
    'fault: reply: twice': 2,
    'fault: suspend': 2,
}


def of_run(args):
    """Return {name: number} for the histories that `args` ask for. args: see command.parser"""
    whole = args.seeds == SEEDS and not (args.theme or args.chooser)
    return AT_LEAST if whole and args.database == 'sqlite' else {}
