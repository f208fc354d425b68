"""Evaluation: how accurate models are on pairs whose true map is known."""
