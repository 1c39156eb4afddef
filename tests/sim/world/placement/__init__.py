"""A placement that answers the frequent requests of histories by few statements."""
