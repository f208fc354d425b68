"""Measuring graphsr: how fast, how accurate, beside what else there is."""
