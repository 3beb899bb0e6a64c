"""Celery workers, the match lifecycle, the reconciler, the supervisor and the command line."""
