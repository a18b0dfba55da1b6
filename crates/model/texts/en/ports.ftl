# The port that the service should listen on is taken, or refused.

ports-taken-by-service = { $key } { $address }: another espelho (process { $process }, version { $version }) serves there.
    .next = If it is another installation's, write another port into { $key } of espelho.toml. If it is this one's, it does the work already: espelho status. To restart it: sudo systemctl restart espelho
ports-taken-by-espelho = { $key } { $address }: another espelho (process { $process }) listens there.
    .next = Stop it (sudo systemctl stop espelho.socket espelho, or kill { $process }), or write another port into { $key } of espelho.toml.
ports-taken-by-program = { $key } { $address }: the program { $program } (process { $process }) listens there.
    .next = Stop it (kill { $process }), or write another port into { $key } of espelho.toml.
ports-taken = { $key } { $address }: another program listens there.
    .next = See which one: sudo ss -ltnp 'sport = :{ $port }'. Stop it, or write another port into { $key } of espelho.toml.
ports-listens = { $key } { $address }: a program listens there, and does not answer as this service does.
    .next = See which one: sudo ss -ltnp 'sport = :{ $port }'. If it is espelho: sudo systemctl restart espelho. If it is another one, end it, or write another port into { $key } in espelho.toml.
ports-not-permitted = { $key } { $address }: the system does not permit listening there.
    .next = Ports below 1024 are root's: write a port from 1024 up into { $key } of espelho.toml.
ports-not-of-this-machine = { $key } { $address }: this machine does not have this address.
    .next = Write into { $key } of espelho.toml an address that "ip address" shows; 127.0.0.1 is always there.
ports-refused = { $key } { $address }: nothing can listen there (“{ $error }”).
    .next = Write another address or another port into { $key } of espelho.toml.
