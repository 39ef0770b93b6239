"""`kindly doctor`: checks of settings, machine, storage and services, each with a fix."""
