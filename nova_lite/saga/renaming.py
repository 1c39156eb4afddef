"""Take over sagas that a former release has begun, whose data have names instead of ids.

Far sides know the steps of such a saga by their former names, so these stay part of its keys,
see `Saga.key`.
"""

import functools

from nova_lite.saga import breakpoints
from nova_lite.saga import cleaning
from nova_lite.saga import former
from nova_lite.saga import journal
from nova_lite.saga import step as step_module

# Keys of data whose values are by step.
BY_STEP = {step_module.TRIES, step_module.GIVEN_UP, step_module.NOT_UNDONE, cleaning.HELD}


def rename(saga: step_module.Saga) -> None:
    """Replace names in the data of a saga by ids. Keep {id: name} of its steps for keys.

    Raise UnknownPlan for a saga of an older release.
    """
    data = _renamed(saga.data, saga.former_ids) if saga.former_ids else saga.data
    if data != saga.data:
        if step_module.PLAN not in data:
            raise journal.UnknownPlan('its journal has no plan')
        names = saga.data[step_module.PLAN]['steps']
        ids = data[step_module.PLAN]['steps']
        saga.data = {**data, step_module.FORMER: dict(zip(ids, names, strict=True))}


def _renamed(data: journal.Data, ids: former.Ids) -> journal.Data:
    of = functools.partial(former.id_of, ids=ids)
    made = {of(key): value for key, value in data.items()}
    for key in BY_STEP & made.keys():
        made[key] = {of(step): value for step, value in made[key].items()}
    if step_module.GO_BACK in made:
        made[step_module.GO_BACK] = of(made[step_module.GO_BACK])
    if breakpoints.MARK in made:
        mark = made[breakpoints.MARK]
        made[breakpoints.MARK] = {**mark, 'step': of(mark['step'])}
    if step_module.PLAN in made:
        plan = made[step_module.PLAN]
        made[step_module.PLAN] = {**plan, 'steps': [of(step) for step in plan['steps']]}
    if cleaning.CLEANED in made:
        made[cleaning.CLEANED] = [of(step) for step in made[cleaning.CLEANED]]
    if cleaning.DUTIES in made:
        made[cleaning.DUTIES] = [
            {**duty, 'step': of(duty['step']), 'data': _renamed(duty['data'], ids)}
            for duty in made[cleaning.DUTIES]
        ]
    return made
