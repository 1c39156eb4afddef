"""Conductors. `super` runs operations of many steps over all cells; `cell` writes one
cell's database on behalf of its computes."""
