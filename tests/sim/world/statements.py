"""Statements that are executed again and again, by the plan of their first execution.

SQLAlchemy makes a context, a compiled form and a result for each execution, which takes several
times as long as SQLite takes. A plan has what is the same in each execution of statements that have
the same cache key, with parameters of the same names: the SQL, the conversions and the columns.
What the database and the scheduler see is the same with and without plans.
"""

from sqlalchemy import engine

from nova_lite.dialects import sqlite

_KNOWN = 'tests_sim_plans'
_NOTHING = {}


class Rows(engine.IteratorResult):
    """The result of a query."""

    def __init__(self, plan, found):
        super().__init__(plan.metadata, iter(found))
        self._plan, self._found = plan, found

    def all(self):
        """Return all rows."""
        return self._plan.many(self._found) if self._found else []

    def first(self):
        """Return the first row, or None."""
        return self._plan.single(self._found[0]) if self._found else None


class Changed:
    """The result of a statement that changes rows."""

    returns_rows = False

    def __init__(self, plan, cursor, values):
        self.rowcount, self._lastrowid = cursor.rowcount, cursor.lastrowid
        self._plan, self._values = plan, values

    @property
    def inserted_primary_key(self):
        """Return the key of the one row that was inserted."""
        return self._plan.key(self._lastrowid, self._values)


class Context:
    """The attributes of an execution that listeners and handlers of errors read."""

    executemany = False

    def __init__(self, plan, connection):
        self.is_crud, self.execution_options = plan.is_crud, plan.options
        self.root_connection = connection

    def handle_dbapi_exception(self, error):
        """Do nothing."""


class Plan:
    """A way to execute statements with one cache key.

    result: of the first execution; given: its parameters
    is_right: whether it makes the SQL of that execution
    """

    def __init__(self, result, given):
        context, compiled = result.context, result.context.compiled
        self.is_crud, self.options = context.is_crud, context.execution_options
        self.metadata, self.single, self.many = None, None, None
        if not self.is_crud:
            self.metadata = result._metadata
            self.single, self.many, _ = Rows(self, [])._row_getter
        self.key = None
        if context.isinsert:
            self.key = compiled._inserted_primary_key_from_lastrowid_getter
        self._defaults = [*_defaults(compiled)]
        # (place among the bound values of a statement, or None; the value without a place)
        self._slots = []
        # {its name in the SQL: (name of the given one or None, slot, converter, whether a list)}
        parts = {
            name: (key, self._slot(place, constant), convert, is_list)
            for name, key, place, constant, convert, is_list in _parts(context, given)
        }
        order = compiled._pre_expanded_positiontup or compiled.positiontup
        self._parts = [parts[name] for name in order]
        # The SQL between lists, and what these lists are.
        pieces = compiled._post_compile_pattern.split(
            compiled._pre_expanded_string or compiled.string
        )
        self._pieces, lists = pieces[::3], [parts[name] for name in pieces[1::3]]
        self._lists = [(name, slot) for name, slot, *_ in lists]
        self._known = {}
        constants = self.constants(context.extracted_parameters)
        self.is_right = (
            not any(pieces[2::3])
            and self.suits(given, constants)
            and self.sql(given, constants) == context.statement
        )

    def _slot(self, place, constant):
        self._slots.append((place, constant))
        return len(self._slots) - 1

    def constants(self, bound):
        """Return the constants of a statement. bound: the parameters that its cache key lists"""
        return [value if place is None else bound[place].value for place, value in self._slots]

    def sql(self, given, constants):
        """Return the SQL. Lists have their lengths in it."""
        if not self._lists:
            return self._pieces[0]
        lengths = tuple(
            [len(given[name] if name else constants[slot]) for name, slot in self._lists]
        )
        found = self._known.get(lengths)
        if found is None:
            found = self._pieces[0]
            for length, piece in zip(lengths, self._pieces[1:], strict=True):
                found += ', '.join('?' * length) + piece
            self._known[lengths] = found
        return found

    def values(self, given, constants, context):
        """Return what is sent with the SQL, and all parameters by their names."""
        if self._defaults:
            given = dict(given)
            for name, make in self._defaults:
                value = make(context)
                if value is not None:
                    given[name] = value
        found = []
        for name, slot, convert, is_list in self._parts:
            value = constants[slot] if name is None else given[name]
            if is_list:
                found += value if convert is None else map(convert, value)
            else:
                found.append(value if convert is None else convert(value))
        return tuple(found), given

    def suits(self, given, constants):
        """Return whether all lists have the usual form: that of an empty one is another."""
        for name, slot in self._lists:
            found = given[name] if name else constants[slot]
            if type(found) is not list or not found:
                return False
        return True


def _defaults(compiled):
    """Yield (name of a parameter, function that makes its value)."""
    if not (compiled.insert_prefetch or compiled.update_prefetch):
        return
    key = compiled._within_exec_param_key_getter
    for column in compiled.insert_prefetch:
        yield key(column), _maker(column.default)
    for column in compiled.update_prefetch:
        yield key(column), _maker(column.onupdate)


def _maker(default):
    return default.arg if default.is_callable else lambda _context: default.arg


def _is_simple(default):
    return default is not None and (default.is_callable or default.is_scalar)


def _parts(context, given):
    """Yield what is known of each parameter.

    (its name in the SQL, that of the given one or None, its place among the bound values of the
    statement or None, constant, converter, whether it is a list)
    """
    compiled = context.compiled
    names = {name: parameter for parameter, name in compiled.bind_names.items()}
    made = {name for name, _ in _defaults(compiled)}
    constants = compiled.construct_params(
        given, extracted_parameters=context.extracted_parameters, escape_names=False, _check=False
    )
    matches = compiled._cache_key_bind_match[0]
    places = {
        parameter: place
        for place, bound in enumerate(compiled.cache_key.bindparams)
        for parameter in matches[bound]
    }
    for name, parameter in names.items():
        key = next((each for each in (parameter.key, name) if each in given or each in made), None)
        is_list = parameter in compiled.post_compile_params
        place, convert = places.get(parameter), compiled._bind_processors.get(name)
        yield name, key, place, constants[name], convert, is_list


class Known:
    """The plans of one statement, with its constants, by the names of parameters.

    A copy of the statement has the attribute, too, and not these.
    """

    def __init__(self, statement):
        self.statement = statement
        self.plans = {}


# {(cache key of statements, names of parameters): Plan, or None where there can be none}
_SHARED = {}


def _plan(result, given):
    """Return the Plan of a statement with parameters of these names, or None."""
    context = getattr(result, 'context', None)
    compiled = getattr(context, 'compiled', None)
    if compiled is None or not (context.is_crud or result.returns_rows):
        return None
    if compiled.cache_key is None or context.extracted_parameters is None:
        return None
    if context.executemany or compiled.literal_execute_params or compiled.escaped_bind_names:
        return None
    if compiled.effective_returning or any(each.callable for each in compiled.bind_names):
        return None
    defaults = [column.default for column in compiled.insert_prefetch]
    defaults += [column.onupdate for column in compiled.update_prefetch]
    if not all(_is_simple(each) for each in defaults):
        return None
    made = Plan(result, given)
    return made if made.is_right else None


def planned(original):
    """Return a method that executes by plans, and otherwise as `original`."""

    def execute(connection, statement, parameters, options):
        transaction = connection._transaction
        if (
            type(connection.dialect) is not sqlite.Dialect
            or len(parameters) > 1
            or options
            or transaction is None
            or not transaction.is_active
            or connection._nested_transaction is not None
            or connection._dbapi_connection is None
        ):
            return original(connection, statement, parameters, options)
        given = parameters[0] if parameters else _NOTHING
        known = statement.__dict__.get(_KNOWN)
        if known is None or known.statement is not statement:
            known = statement.__dict__[_KNOWN] = Known(statement)
        shape = tuple(given)
        found = known.plans.get(shape)
        key = None
        if found is None:
            # SQLAlchemy needs the key, too, and keeps it.
            key = statement._generate_cache_key()
            found = known.plans[shape] = _shared(key, shape)
        if found and found[0].suits(given, found[1]):
            return _executed(connection, *found, given)
        result = original(connection, statement, parameters, options)
        if key is not None and (key.key, shape) not in _SHARED:
            _SHARED[key.key, shape] = _plan(result, given)
            known.plans[shape] = _shared(key, shape)
        return result

    return execute


def _shared(key, shape):
    """Return (a Plan, the constants of a statement), or () if there is no plan yet, or never."""
    plan = None if key is None else _SHARED.get((key.key, shape))
    if plan is None or any(parameter.callable for parameter in key.bindparams):
        return ()
    return plan, plan.constants(key.bindparams)


def _executed(connection, plan, constants, given):
    dialect, context = connection.dialect, Context(plan, connection)
    sql, values, cursor = None, None, connection._dbapi_connection.cursor()
    try:
        sql = plan.sql(given, constants)
        values, given = plan.values(given, constants, context)
        for check in dialect.dispatch.do_execute:
            if check(cursor, sql, values, context):
                break
        else:
            dialect.do_execute(cursor, sql, values, context)
        if plan.metadata is not None:
            return Rows(plan, cursor.fetchall())
        return Changed(plan, cursor, given)
    except BaseException as error:
        connection._handle_dbapi_exception(error, sql, values, cursor, context)
        raise
