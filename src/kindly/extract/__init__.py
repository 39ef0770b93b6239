"""Page → Document: the readable text of any page, made in killable worker processes.

Nothing heavy is imported here: `kindly.extract.workers.worker_pool` starts the processes, `kindly.extract.document` does the work
inside them.
"""
