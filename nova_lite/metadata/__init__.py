"""The documents that tell a guest about its server: for the metadata service and config drives.

Built from the record of the server alone. Formats: those of OpenStack and of EC2 2009-04-04.
"""
