"""Write the golden hashes anew, after a payload's VERSION was raised."""

import json

from tests.unit.notify import test_payloads

if __name__ == '__main__':
    with open(test_payloads.GOLDEN, 'w') as file:
        json.dump(test_payloads.current(), file, indent=2, sort_keys=True)
        file.write('\n')
