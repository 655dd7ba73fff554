"""One function per use case, given its dependencies. No clock, no settings, no Prefect."""
