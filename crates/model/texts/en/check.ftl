# What the configuration must not have.

check-address-placeholder = { $key } "{ $address }" is the address of the example: nobody is there.
    .next = Write the real address, or environment = "sandbox" to try things out.
check-secret-exposed = Other users of this machine may read { $file } (mode { $mode })
    .next = chmod 600 { $file }; of the package's service, it must be the service's: sudo chown espelho { $file } && sudo chmod 600 { $file }
