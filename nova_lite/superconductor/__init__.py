"""The super-conductor: builds and sagas over all cells, and audits above the cells."""
