"""Versioned notifications: what happened, told on the message buses.

`derive` says which records become which notifications, `payloads` what they carry,
`watch` sees the records being made, `desk` and `bus` send without holding anyone up.
"""
