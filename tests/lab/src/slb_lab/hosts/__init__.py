"""The engine hosts: containers with systemd, sshd, NetworkManager and a Docker engine of their own."""
