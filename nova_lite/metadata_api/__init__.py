"""The metadata service: what guests read over HTTP about their servers.

It reads the API database and those of the cells, and writes the passwords that guests report.
"""
