"""The API database: mappings, build requests, flavors, aggregates, groups, quotas, sagas."""
