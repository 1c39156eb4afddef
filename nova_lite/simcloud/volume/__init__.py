"""Cinder v3: volumes, attachments, snapshots, types and quotas."""
