"""Refusals of a flavor and an image, each answered with 400. Names and texts are nova's."""

from nova_lite import exception
from nova_lite.lifecycle.guests import asked


class InvalidImageMetadata(exception.Invalid):
    msg = 'Invalid image metadata. Error: %(reason)s'


class InvalidImageConfigDrive(exception.Invalid):
    msg = "Image's config drive option '%(value)s' is invalid"


class InvalidRequest(exception.Invalid):
    msg = 'The request is invalid.'


class InvalidFlavorExtraSpec(exception.Invalid):
    msg = 'Invalid flavor extra spec. Error: %(reason)s'


class InvalidNUMANodesNumber(exception.Invalid):
    msg = "The property 'numa_nodes' cannot be '%(nodes)s'. It must be a number greater than 0"


class ImageNUMATopologyForbidden(exception.Invalid):
    msg = (
        "Image property '%(name)s' is not permitted to override NUMA configuration set against "
        'the flavor'
    )


class ImageNUMATopologyIncomplete(exception.Invalid):
    msg = 'CPU and memory allocation must be provided for all NUMA nodes'


class ImageNUMATopologyAsymmetric(exception.Invalid):
    msg = (
        'Instance CPUs and/or memory cannot be evenly distributed across instance NUMA nodes. '
        'Explicit assignment of CPUs and memory to nodes is required'
    )


class ImageNUMATopologyCPUOutOfRange(exception.Invalid):
    msg = 'CPU number %(number)d is larger than max %(maximum)d'


class ImageNUMATopologyCPUDuplicates(exception.Invalid):
    msg = 'CPU number %(number)d is assigned to two nodes'


class ImageNUMATopologyCPUsUnassigned(exception.Invalid):
    msg = 'CPU number %(cpus)s is not assigned to any node'


class ImageNUMATopologyMemoryOutOfRange(exception.Invalid):
    msg = '%(assigned)d MB of memory assigned, but expected %(expected)d MB'


class ImageNUMATopologyRebuildConflict(exception.Invalid):
    msg = (
        "An instance's NUMA topology cannot be changed as part of a rebuild. The image provided "
        'is invalid for this instance.'
    )


class InvalidCPUAllocationPolicy(exception.Invalid):
    msg = (
        "CPU policy requested from 'flavor extra specs' is invalid, given: '%(given)s', "
        "available: '%(available)s'."
    )


class ImageCPUPinningForbidden(exception.Invalid):
    msg = (
        "Image property 'hw_cpu_policy' is not permitted to override CPU pinning policy set "
        'against the flavor'
    )


class InvalidCPUThreadAllocationPolicy(exception.Invalid):
    msg = (
        "CPU thread policy requested from 'flavor extra specs' is invalid, given: '%(given)s', "
        "available: '%(available)s'."
    )


class ImageCPUThreadPolicyForbidden(exception.Invalid):
    msg = (
        "Image property 'hw_cpu_thread_policy' is not permitted to override CPU thread pinning "
        'policy set against the flavor'
    )


class CPUThreadPolicyConfigurationInvalid(exception.Invalid):
    msg = 'Cannot set cpu thread pinning policy in a non dedicated cpu pinning policy'


class InvalidEmulatorThreadsPolicy(exception.Invalid):
    msg = (
        "CPU emulator threads option requested is invalid, given: '%(given)s', "
        "available: '%(available)s'."
    )


class BadRequirementEmulatorThreadsPolicy(exception.Invalid):
    msg = 'An isolated CPU emulator threads option requires a dedicated CPU policy option.'


class RealtimeConfigurationInvalid(exception.Invalid):
    msg = 'Cannot set realtime policy in a non dedicated cpu pinning policy'


class RealtimeMaskNotFoundOrInvalid(exception.Invalid):
    msg = (
        'Use of realtime CPUs requires either one or more non-realtime CPU(s) or offloaded '
        'emulator threads.'
    )


class RequiredMixedInstancePolicy(exception.Invalid):
    msg = "Cannot specify 'hw:cpu_dedicated_mask' without the 'mixed' policy."


class RequiredMixedOrRealtimeCPUMask(exception.Invalid):
    msg = (
        "Dedicated CPU set can be specified from either 'hw:cpu_dedicated_mask' or "
        "'hw:cpu_realtime_mask' when using 'mixed' CPU policy. 'hw:cpu_dedicated_mask' and "
        "'hw:cpu_realtime_mask' can not be specified at the same time, or be specified with "
        'none of them.'
    )


class InvalidMixedInstanceDedicatedMask(exception.Invalid):
    msg = (
        'Mixed instance must have at least 1 pinned vCPU and 1 unpinned vCPU. See '
        "'hw:cpu_dedicated_mask'."
    )


class ImageVCPULimitsRangeExceeded(exception.Invalid):
    msg = 'Image vCPU topology limits (%(image)s) exceeds the limits of the flavor (%(flavor)s)'


class ImageVCPUTopologyRangeExceeded(exception.Invalid):
    msg = 'Image vCPU topology (%(image)s) exceeds the limits of the flavor or image (%(limits)s)'


class ImageSerialPortNumberInvalid(exception.Invalid):
    msg = (
        'Number of serial ports specified in flavor is invalid: expected an integer, got '
        "'%(given)s'"
    )


class ImageSerialPortNumberExceedFlavorValue(exception.Invalid):
    msg = 'Forbidden to exceed flavor value of number of serial ports passed in image meta.'


class MemoryPageSizeInvalid(exception.Invalid):
    msg = "Invalid memory page size '%(size)s'"


class MemoryPageSizeForbidden(exception.Invalid):
    msg = "Page size %(size)s forbidden against '%(against)s'"


class LockMemoryForbidden(exception.Invalid):
    msg = 'locked_memory value in image or flavor is forbidden when mem_page_size is not set.'


class FlavorImageLockedMemoryConflict(exception.Invalid):
    msg = (
        'locked_memory value in image (%(image)s) and flavor (%(flavor)s) conflict. A consistent '
        'value is expected if both specified.'
    )


class FlavorImageConflict(exception.Invalid):
    msg = (
        'Flavor%(flavor_name)s has %(namespace)s:%(key)s extra spec explicitly set to %(flavor)s, '
        'conflicting with image%(image_name)s which has %(namespace)s_%(named)s%(kind)s explicitly '
        'set to %(image)s%(end)s'
    )


# Nova names this property of images so in the text.
_NAMED = {'ephemeral_encryption': 'eph_encryption'}


def conflict(
    guest: asked.Asked, key: str, flavor: object, image: object, *, namespace: str = 'hw'
) -> FlavorImageConflict:
    """Return the refusal of `NAMESPACE:KEY` and `NAMESPACE_KEY` with different values."""
    is_named = key != 'virtio_packed_ring'
    is_encryption = key.startswith('mem_encryption') or key in _NAMED
    return FlavorImageConflict(
        key=key,
        named=_NAMED.get(key, key),
        namespace=namespace,
        flavor=flavor,
        image=image,
        flavor_name=f' {guest.flavor_name}' if is_named else '',
        image_name=f' {guest.image_name}' if is_named else '',
        kind=' property' if is_encryption else '',
        end='' if is_encryption else '.',
    )


class InvalidMachineType(exception.Invalid):
    msg = (
        "Machine type '%(machine)s' is not compatible with image %(image_name)s (%(image_id)s): "
        '%(reason)s'
    )


class StatelessFirmwareRequired(exception.Invalid):
    msg = (
        'The %(model)s memory encryption model requires stateless firmware but the image '
        "metadata doesn't have the 'hw_firmware_stateless' property set to True"
    )


class InvalidVideoMode(exception.Invalid):
    msg = (
        'The %(model)s memory encryption model is incompatible with an attached video device. '
        "Set the 'hw_video_model' image property to 'none' to disable it"
    )


class PciRequestAliasNotDefined(exception.Invalid):
    msg = 'PCI alias %(alias)s is not defined'


class PciAliasCountInvalid(exception.Invalid):
    """Nova fails with 500 here."""

    msg = "Invalid flavor extra spec. Error: '%(alias)s' is not of the form NAME:COUNT, where COUNT has at most 9 digits"


class InvalidPCINUMAAffinity(exception.Invalid):
    msg = 'Invalid PCI NUMA affinity configured: %(policy)s'


class ImagePCINUMAPolicyForbidden(exception.Invalid):
    msg = (
        "Image property 'hw_pci_numa_affinity_policy' is not permitted to override the "
        "'hw:pci_numa_affinity_policy' flavor extra spec."
    )
