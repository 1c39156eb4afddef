"""The metadata service, from which guests read documents about their servers over HTTP.

It reads the API database and those of the cells, and writes the passwords that guests report.
"""
