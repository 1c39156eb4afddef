"""Versioned notifications: created from records and sent to the message buses.

`derive` maps records to notifications, `payloads` has the contents, `watch` reads the records in
their transactions, `notifier` and `outlets` send in threads of their own.
"""
