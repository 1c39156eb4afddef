"""The cell conductor: writes one cell's database for the computes, and audits the cell.

It reaches neither the API database nor another cell (a contract of import-linter).
"""
