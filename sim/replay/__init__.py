"""Captured calls run again."""
