# The service's status line (systemctl status espelho).

service-stopping = stopping: finishes what is under way
service-stores = { $held } of { $all ->
        [one] { $all } store
       *[other] { $all } stores
    } in this instance
service-recent = oldest reconciliation less than 1 min ago
service-oldest = oldest reconciliation { $age } ago
service-first = first reconciliation under way
service-well = no errors
service-problem = 1 problem: { $first }
service-problems = { $count } problems, the first: { $first }
service-hangs = lane { $lane } has not moved for { $seconds }
service-store-hangs = { $store }: lane { $lane } has not moved for { $seconds }
