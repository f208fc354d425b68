"""What stands between a sensor and a problem: noise, outliers, how sure a target is."""
