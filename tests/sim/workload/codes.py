"""Codes of answers that the rules tell apart."""

# There was no answer.
LOST = 0
ACCEPTED, GONE, CONFLICT, INTERNAL_ERROR = 202, 204, 409, 500
DONE, REFUSALS = range(200, 300), range(400, 500)
