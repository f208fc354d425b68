"""What stands between a sensor and a problem: noise, outliers, and what else real measurements bring."""
