"""Policies: rule defaults, one module per resource, and their enforcement.

Each module of this package has a constant for each rule of a resource (`base.rule`). Operators'
policy files override the defaults by name, as in any OpenStack service.
"""

import collections
import functools
import importlib
import pkgutil
import types
import typing

from oslo_config import cfg
from oslo_policy import policy

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import operation
from nova_lite.api.policies import base

CACHE_S = 10
CACHE_SIZE = 20000

Ctxt: typing.TypeAlias = context.RequestContext
# The owner of the object of a request: {'project_id': ..., 'user_id': ...}.
Target: typing.TypeAlias = dict[str, typing.Any]


def modules() -> list[types.ModuleType]:
    """Return every module of this package."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    return [importlib.import_module(f'{__name__}.{name}') for name in names]


def list_rules() -> base.Rules:
    """Return every rule default, for enforcement and for the sample file."""
    named = collections.defaultdict(list)
    for each in operation.load_all():
        named[each.policy].append(str(each))
    found = [rule for module in modules() for rule in vars(module).values()]
    rules = [rule for rule in found if isinstance(rule, base.Rule)]
    return [*base.list_rules(), *(rule.documented(named[rule]) for rule in rules)]


def get_enforcer() -> policy.Enforcer:
    """Return an enforcer for oslo.policy's command line tools."""
    conf = cfg.ConfigOpts()
    conf([], project='nova-lite')
    return _make(conf)


def _make(conf: cfg.ConfigOpts) -> policy.Enforcer:
    enforcer = policy.Enforcer(conf)
    enforcer.registered_rules = dict(_registered())
    enforcer.load_rules()
    return enforcer


@functools.cache
def _registered() -> typing.Any:
    """Return {name: default}, registered once per process.

    Registration copies each default deeply, since oslo.policy changes those with a
    deprecated rule; there is none here.
    """
    conf = cfg.ConfigOpts()
    # Before oslo.policy 5.0 an enforcer looks for its file when it is created.
    conf([], default_config_files=[], default_config_dirs=[])
    enforcer = policy.Enforcer(conf)
    enforcer.register_defaults(list_rules())
    return enforcer.registered_rules


class Enforcer:
    """Checks the permissions of callers. Results are cached for some seconds.

    oslo.policy takes about 50 microseconds for a rule and checks its files each time. A result
    depends on the rule, the caller and the owner of the object.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._enforcer = _make(conf)
        self._known: dict[typing.Any, bool] = {}
        self._until = 0.0

    def allows(self, ctxt: Ctxt, rule: str, target: Target | None = None) -> bool:
        """Return whether the rule allows the request of `ctxt`.

        target: {'project_id': ..., 'user_id': ...} of the object's owner; None: the caller's
            project
        """
        if target is None:
            project_id, user_id = ctxt.project_id, ctxt.user_id
        else:
            project_id, user_id = target.get('project_id'), target.get('user_id')
        key = (
            rule,
            ctxt.project_id,
            ctxt.user_id,
            tuple(ctxt.roles),
            tuple(ctxt.service_roles),
            ctxt.is_admin,
            ctxt.system_scope,
            project_id,
            user_id,
        )
        now = runtime.monotonic()
        if now > self._until or len(self._known) > CACHE_SIZE:
            self._known = {}
            self._until = now + CACHE_S
        answer = self._known.get(key)
        if answer is None:
            answer = self._ask(ctxt, rule, {'project_id': project_id, 'user_id': user_id})
            self._known[key] = answer
        return answer

    def authorize(self, ctxt: Ctxt, rule: str, target: Target | None = None) -> None:
        """Raise PolicyNotAuthorized unless the rule allows the request of `ctxt`."""
        if not self.allows(ctxt, rule, target):
            raise exception.PolicyNotAuthorized(action=rule)

    def is_admin(self, ctxt: Ctxt) -> bool:
        """Return whether the caller administrates the deployment."""
        return self.allows(ctxt, 'context_is_admin')

    def _ask(self, ctxt: Ctxt, rule: str, target: Target) -> bool:
        credentials = dict(ctxt.to_policy_values())
        credentials['is_admin'] = ctxt.is_admin
        try:
            return bool(self._enforcer.authorize(rule, target, credentials))
        except policy.PolicyNotRegistered:
            raise
        except policy.InvalidScope:
            return False
