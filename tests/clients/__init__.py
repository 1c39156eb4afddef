"""The clients' own functional tests against a cloud, compared with the results expected."""
