# The marketplace and the way to it. Its own words are quoted.

api-setup = The connection to the marketplace cannot be set up: “{ $problem }”
    .next = Correct the store's file and check it: espelho check; on a machine without certificates: sudo apt-get install ca-certificates
api-unreachable = No connection to { $host }.
    .next = The mirror tries again by itself. If it lasts, check base_url, DNS and the network.
api-interrupted = The marketplace's answer did not arrive whole.
    .next = The mirror tries again by itself.
api-too-large = The marketplace answered more than { $mib } MiB at once.
    .next = Tell the marketplace's support: the answer is too large.
api-unreadable = The marketplace answered { $status } with something that is not the API's ({ $content }).
    .next = Usually a proxy or a maintenance page: the mirror tries again by itself. If it lasts, check base_url.
api-unexpected = The marketplace answered in a way that the API's document does not describe: “{ $problem }”
    .next = Tell whoever maintains the mirror, with this text.
api-address-refused = { $kind ->
        [hosts] The file's address lies on a host that labels.hosts does not name ({ $file }).
       *[other] The file's address cannot be used ({ $file }).
    }
    .next = { $kind ->
        [hosts] If the host is the marketplace's, add it to labels.hosts of the store's file.
       *[other] Outside the sandbox files come by https and from public hosts only: tell the marketplace's support.
    }
api-address-expired = The file's address was refused ({ $status }); it has probably expired.
    .next = The mirror asks for another address by itself; each is good for 15 minutes.
api-file-refused = The marketplace's file server answered { $status }.
    .next = The mirror tries again by itself.
api-refused = { $words ->
        [none] The marketplace refused ({ $status }).
       *[other] The marketplace refused ({ $status }): “{ $words }”
    }
    .next = { $kind ->
        [both-directions] A movement either adds or subtracts: send one of the two.
        [unauthorized] The token was not accepted: check the store's credential with espelho doctor
        [missing-abilities] Get a credential with { $abilities ->
            [none] the missing permission in the seller portal; which ones are missing: espelho doctor
           *[other] this permission in the seller portal: { $abilities }.
        }
        [store-page-closed] Change the store page in the seller portal: the API is not open to integrations yet.
        [not-found] Check the code: the marketplace does not know this record in this store.
        [image-in-use] First take the image out of the product, listing or store page that uses it.
        [impossible-transition] See where the order is and ask for a change that is possible from there.
        [invalid-fields] Correct the fields named: the mirror sends it again by itself.
        [campaign-closed] The time to join is over: nothing more to do in this campaign.
        [substore] This sub-store mirrors its parent's products: create the product in the parent store.
        [label-not-ready] The label is still being made: the mirror looks again by itself.
        [fiscal-gate] Issue the invoice (NF-e) or the content declaration.
        [listing-not-ready] Correct the listing as named: the mirror sends it again by itself.
        [too-many] Nothing to do: the mirror waits and goes on by itself. If it is always so, another program spends this store's limit.
        [server] The marketplace has a fault: the mirror tries again by itself.
        [no-webhook] Configure [webhook] in the store's file and reload: sudo espelho reload. Then: espelho retry { $row }; to give it up: espelho ignore { $row }
       *[other] Read what the marketplace says and correct the request.
    }
api-login-refused = { $words ->
        [none] The login of { $username } was refused ({ $status }).
       *[other] The login of { $username } was refused ({ $status }): “{ $words }”
    }
    .next = { $status ->
        [422] Correct the field that the marketplace refuses in the store's file: username or password where they are missing; webhook.url is webhook.public_url, an https address that the internet reaches.
       *[other] Check username and password of the store's credential in the seller portal.
    }
api-foreign-login = The token of { $username } was ended { $times } times within an hour: another program uses the same credential.
    .next = Make a credential for each program in the seller portal.
api-not-ours = Another instance has taken the store.
    .next = Nothing is lost: whoever has the store now goes on with it.
api-no-token-record = The store's token could not be read from the database, or kept in it.
    .next = Check the database with espelho doctor
api-no-budget-record = The store's request budget could not be read from the database, or kept in it.
    .next = Check the database with espelho doctor
