"""Tables and sections of the pages about the API, made from its declarations."""
