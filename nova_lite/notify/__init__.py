"""Versioned notifications: created from records and sent to the message buses.

`derive` says which records become which notifications, `payloads` what they carry,
`watch` sees the records being made, `notifier` and `outlets` send without holding anyone up.
"""
