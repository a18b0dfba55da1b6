# The service's status line (systemctl status espelho).

service-waits = waits for { $store }, which { $owner } has
service-stopping = stopping: finishes what is under way
service-stores = { $held } of { $all ->
        [one] { $all } store
       *[other] { $all } stores
    } in this instance
service-recent = oldest reconciliation less than 1 min ago
service-oldest = oldest reconciliation { $age } ago
service-first = first reconciliation under way
service-well = no errors
service-unproved = without proof that all is well
service-problem = 1 problem: { $first }
service-problems = { $count } problems, the first: { $first }
service-hangs = { $lane ->
    [outbox] sending
    [hinted] reading what webhooks told
    [swept] reading records
    [sweep] the sweeps
    [catch_up] catching up
    [reconcile] the reconciliation
    [audit] the audit
    [labels] fetching labels
    [inbox] handling webhooks
    [inbox_writer] writing webhooks
    [receiver] receiving webhooks
    [webhooks] testing webhooks
   *[other] the task “{ $lane }”
} has stood still for { $seconds }
service-store-hangs = { $store }: { service-hangs }
