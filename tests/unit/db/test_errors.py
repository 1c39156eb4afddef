"""Errors of the drivers, classified by their codes."""

import pymysql
import sqlalchemy as sa
import testtools

from nova_lite.db import errors


class DriverError(Exception):
    """Stands for psycopg's, which says the SQLSTATE in the same way."""

    def __init__(self, sqlstate):
        super().__init__('refused')
        self.sqlstate = sqlstate


def of(cause, kind=sa.exc.OperationalError):
    """The error of SQLAlchemy that a driver's error becomes."""
    return kind('SELECT 1', {}, cause)


class TestClassify(testtools.TestCase):
    def test_mariadb(self):
        expected = {
            errors.Kind.LOST: (1053, 1290, 1836, 1927, 2006, 2013),
            errors.Kind.CONFLICT: (1213,),
            errors.Kind.BUSY: (1040, 1205),
            None: (1045, 1064, 1146, 1406),
        }
        for kind, numbers in expected.items():
            for number in numbers:
                error = of(pymysql.err.OperationalError(number, 'refused'))
                self.assertEqual(kind, errors.classify(error), number)

    def test_postgresql(self):
        expected = {
            errors.Kind.LOST: ('08006', '57P01', '57P03', '25006', '25P03', '40003', None),
            errors.Kind.CONFLICT: ('40001', '40P01'),
            errors.Kind.BUSY: ('57014', '55P03', '53300', '53100'),
            None: ('42P01', '22001', '25001', '57000'),
        }
        for kind, states in expected.items():
            for state in states:
                self.assertEqual(kind, errors.classify(of(DriverError(state))), state)

    def test_the_code_of_a_driver(self):
        """PyMySQL's number says more than the SQLSTATE beside it."""
        refused = pymysql.err.OperationalError(1139, 'refused', sqlstate='42000')
        self.assertEqual(1139, errors.code(of(refused)))
        self.assertEqual('2201B', errors.code(of(DriverError('2201B'), sa.exc.DataError)))
        self.assertIsNone(errors.code(ValueError()))

    def test_a_server_that_was_demoted(self):
        self.assertTrue(errors.is_read_only(of(pymysql.err.OperationalError(1290, 'read-only'))))
        self.assertTrue(errors.is_read_only(of(DriverError('25006'))))
        self.assertFalse(errors.is_read_only(of(DriverError('57P01'))))

    def test_commits_that_are_known_to_have_failed(self):
        self.assertFalse(errors.may_have_committed(of(DriverError('40001'))))
        self.assertFalse(errors.may_have_committed(of(DriverError('23503'), sa.exc.IntegrityError)))
        self.assertTrue(errors.may_have_committed(of(DriverError('57P01'))))
        self.assertTrue(errors.may_have_committed(of(DriverError('XX000'))))
