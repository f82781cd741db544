"""The lab's management node: its documented interface, its web console, and deployments that really happen."""
