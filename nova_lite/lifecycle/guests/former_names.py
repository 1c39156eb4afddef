"""Properties of images under the names and in the words that the scheduler compares.

Images made for older releases have other names, and some words have synonyms or capital letters.
"""

from nova_lite.lifecycle.guests import asked

ARCHITECTURE, EMULATED = 'hw_architecture', 'hw_emulation_architecture'
HYPERVISOR, VERSION, MODE = 'img_hv_type', 'img_hv_requested_version', 'hw_vm_mode'
DISK_BUS, VIF_MODEL = 'hw_disk_bus', 'hw_vif_model'
_FORMER = {
    'architecture': ARCHITECTURE,
    'hypervisor_type': HYPERVISOR,
    'hypervisor_version_requires': VERSION,
    'vm_mode': MODE,
}
_ADAPTER, _IDE, _SCSI = 'vmware_adaptertype', 'ide', 'scsi'
_ARCHITECTURES = {'amd64': 'x86_64', **dict.fromkeys(('i386', 'i486', 'i586', 'x86_32'), 'i686')}
# Words of these properties have small letters, and synonyms.
_SYNONYMS: dict[str, dict[str, str]] = {
    ARCHITECTURE: _ARCHITECTURES,
    EMULATED: _ARCHITECTURES,
    HYPERVISOR: {'xapi': 'xen'},
    MODE: {'pv': 'xen', 'hv': 'hvm', 'baremetal': 'hvm'},
}
_VIF_MODELS = {
    'VirtualE1000': 'e1000',
    'VirtualE1000e': 'e1000e',
    'VirtualPCNet32': 'pcnet',
    'VirtualSriovEthernetCard': 'sriov',
    'VirtualVmxnet': 'vmxnet',
    'VirtualVmxnet3': 'vmxnet3',
}


def replaced(properties: asked.Values) -> dict[str, str]:
    """Return the properties of an image under their present names, in words without synonyms.

    A property with its present name takes precedence. Properties without a value are left out.
    """
    given = {name: str(value) for name, value in properties.items() if value is not None}
    found = {_FORMER[name]: value for name, value in given.items() if name in _FORMER}
    adapter = given.get(_ADAPTER)
    if adapter:
        found[DISK_BUS] = _IDE if adapter.lower() == _IDE else _SCSI
    found |= {name: value for name, value in given.items() if name not in _FORMER}
    for name, synonyms in _SYNONYMS.items():
        if name in found:
            word = found[name].lower()
            found[name] = synonyms.get(word, word)
    if VIF_MODEL in found:
        found[VIF_MODEL] = _VIF_MODELS.get(found[VIF_MODEL], found[VIF_MODEL])
    return found
