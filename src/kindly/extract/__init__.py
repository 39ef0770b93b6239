"""Page → Document: the readable text of any page, made in killable worker processes.

Nothing heavy is imported here: `workers.worker_pool` starts the processes, `document` does the work inside them.
"""
