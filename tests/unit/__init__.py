"""Tests of single parts of the package, without servers."""
