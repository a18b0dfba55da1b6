# Alarms (contract 4). The message says what is wrong; `.next` is the next step.

alarm-service-stopped = The service is stopped: no sign of life for { $seconds }.
    .next = systemctl start espelho
