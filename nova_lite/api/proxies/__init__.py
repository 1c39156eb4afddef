"""Operations of old microversions that hand requests on to the service that has the things."""
