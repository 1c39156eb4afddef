import os

import setuptools

# pbr takes the version from git or from an sdist's PKG-INFO. An exported tree
# has neither, and is to install all the same.
if not os.path.exists('.git') and not os.path.exists('PKG-INFO'):
    os.environ.setdefault('PBR_VERSION', '1.0.0')

setuptools.setup(setup_requires=['pbr>=6.1.1'], pbr=True)
