"""Engine hosts and a management node on one machine, to try the collection slb.fleet for real."""
