"""`threading.local` of simulated threads."""

from tests.sim.kernel import core


class Local:
    """`threading.local`: other attributes in each simulated thread.

    The C type knows real threads only.
    """

    __slots__ = ('__dict__', '__weakref__', '_arguments', '_now', '_values')

    def __new__(cls, /, *args, **kwargs):
        """Keep the arguments for `__init__` in the other threads."""
        self = object.__new__(cls)
        setting = object.__setattr__
        setting(self, '_arguments', (args, kwargs))
        kernel = core.active
        thread = kernel.running if kernel else None
        setting(self, '_now', thread)
        setting(self, '_values', {thread: {}})
        setting(self, '__dict__', object.__getattribute__(self, '_values')[thread])
        return self

    def __getattribute__(self, name):
        _switch_local(self)
        return object.__getattribute__(self, name)

    def __setattr__(self, name, value):
        _switch_local(self)
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        _switch_local(self)
        object.__delattr__(self, name)


def _switch_local(local):
    """Give a Local the attributes of the calling thread."""
    kernel = core.active
    thread = kernel.running if kernel else None
    getting, setting = object.__getattribute__, object.__setattr__
    if getting(local, '_now') is thread:
        return
    values = getting(local, '_values')
    mine = values.get(thread)
    new = mine is None
    if new:
        mine = values[thread] = {}
        if thread:
            thread.locals.append(values)
    setting(local, '_now', thread)
    setting(local, '__dict__', mine)
    if new and type(local).__init__ is not object.__init__:
        args, kwargs = getting(local, '_arguments')
        type(local).__init__(local, *args, **kwargs)
