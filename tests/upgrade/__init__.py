"""Sagas that a former commit has begun, and the code of now that ends them."""
