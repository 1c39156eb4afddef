"""Operations of old microversions that forward requests to other services."""
