"""Operator endpoints: health, metrics, telemetry, console."""
