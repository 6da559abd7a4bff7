"""The tables of a report as plain rows of text: each way of telling lays them out in its own manner."""

from diskproof.report.tables.cells import cells, cells_by_kind, costs
from diskproof.report.tables.disks import virtual_disks
from diskproof.report.tables.efficiency import NOTE as EFFICIENCY_NOTE
from diskproof.report.tables.efficiency import efficiency
from diskproof.report.tables.machine import devices, machine, places, servers
from diskproof.report.tables.operations import operations
from diskproof.report.tables.prices import device_prices, speed_prices, storage_prices
from diskproof.report.tables.published import published_figures, published_ratios
from diskproof.report.tables.settings import level_differences, settings
from diskproof.report.tables.table import Column, Table, factor_column, shown_factors
from diskproof.report.tables.trials import load_commands, order

__all__ = [
    "EFFICIENCY_NOTE",
    "Column",
    "Table",
    "cells",
    "cells_by_kind",
    "costs",
    "device_prices",
    "devices",
    "efficiency",
    "factor_column",
    "level_differences",
    "load_commands",
    "machine",
    "operations",
    "order",
    "places",
    "published_figures",
    "published_ratios",
    "servers",
    "settings",
    "shown_factors",
    "speed_prices",
    "storage_prices",
    "virtual_disks",
]
