"""The live page of a cloud of `nova-lite up`: what a browser sees at the root of its port.

It reads the databases of the cloud, of all projects, and changes nothing. `reading` and
`placement_rows` read, `document` makes of it what the page shows, `feed` sends that to all
viewers, `details` answers what they ask for besides, and `app` serves them. It knows no
daemon; the launcher gives it the URLs of the databases, the injected faults, and for `lab`
the control endpoint.
"""
