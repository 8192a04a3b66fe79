"""Stand-ins for the layouts of other libraries."""
