"""Adapters: how a module with other ports stands for a streaming unit."""

from rtl_models.adapters.file import Adapter, MalformedAdapter, read_adapter
from rtl_models.adapters.fitting import require_fitting

__all__ = ["Adapter", "MalformedAdapter", "read_adapter", "require_fitting"]
