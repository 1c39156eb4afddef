"""Write the golden hashes anew, after an object's VERSION was raised."""

import json

from tests.unit.objects import test_objects

if __name__ == '__main__':
    with open(test_objects.GOLDEN, 'w') as file:
        json.dump(test_objects.current(), file, indent=2, sort_keys=True)
        file.write('\n')
