"""Texts of refused changes of metadata and tags, which clients match."""

from tests.unit.api.servers import base

METADATA = {'metadata': {'a': 'b'}}


class TestTexts(base.Case):
    def test_verbs(self):
        uuid = self.api.add_server(vm_state='shelved', metadata={'a': 'b'})
        for method, path, body, verb in (
            ('POST', 'metadata', METADATA, 'update metadata'),
            ('PUT', 'metadata', METADATA, 'update metadata'),
            ('PUT', 'metadata/a', {'meta': {'a': 'c'}}, 'update metadata'),
            ('DELETE', 'metadata/a', None, 'delete metadata'),
            ('PUT', 'tags/x', None, 'update tag'),
            ('PUT', 'tags', {'tags': ['x']}, 'update tags'),
            ('DELETE', 'tags/x', None, 'delete tag'),
            ('DELETE', 'tags', None, 'delete tags'),
        ):
            text = f"Cannot '{verb}' instance {uuid} while it is in vm_state shelved"
            self.refused(
                method, f'/servers/{uuid}/{path}', body, code=409, text=text, version='2.26'
            )
