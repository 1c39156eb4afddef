"""The operators of extra specs, as a table."""

import testtools

from nova_lite.scheduler import operators

TABLE = (
    # value, requirement, whether it matches
    ('x86_64', 'x86_64', True),
    ('x86_64', 'aarch64', False),
    (8, '8', True),
    (8, '= 8', True),
    (9, '= 8', True),
    (7, '= 8', False),
    (8, '== 8.0', True),
    (8, '== 9', False),
    (8, '!= 9', True),
    (8, '!= 8', False),
    (8, '>= 8', True),
    (7, '>= 8', False),
    (8, '<= 8', True),
    (9, '<= 8', False),
    ('many', '>= 8', False),
    (8, '>= many', False),
    (None, '>= 8', False),
    (8, '>=', False),
    ('QEMU', 's== QEMU', True),
    ('QEMU', 's== qemu', False),
    ('QEMU', 's!= Xen', True),
    ('QEMU', 's!= QEMU', False),
    ('abc', 's< abd', True),
    ('abd', 's< abc', False),
    ('abc', 's<= abc', True),
    ('abd', 's<= abc', False),
    ('abd', 's> abc', True),
    ('abc', 's> abd', False),
    ('abc', 's>= abc', True),
    ('abc', 's>= abd', False),
    ('sse avx2', '<in> avx', True),
    ('sse avx2', '<in> neon', False),
    (['sse', 'avx2'], '<in> avx2', True),
    (['sse', 'avx2'], '<all-in> sse avx2', True),
    (['sse'], '<all-in> sse avx2', False),
    ('b', '<or> a <or> b', True),
    ('c', '<or> a <or> b', False),
    (2, '<or> 1 <or> 2', True),
    (None, '<or> a', False),
    ('', '', True),
    ('x', '', False),
    ('> 8', '> 8', True),
)


class OperatorsTest(testtools.TestCase):
    def test_table(self):
        for value, requirement, expected in TABLE:
            with self.subTest(value=value, requirement=requirement):
                self.assertEqual(expected, operators.matches(value, requirement))
