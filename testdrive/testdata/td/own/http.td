# The HTTP side: health and metrics.

$ http-request method=GET url=http://${testdrive.materialize-http-addr}/metrics
$ assert-metric name=go_goroutines min=1
# It is the same server.
> SELECT current_database()
materialize
