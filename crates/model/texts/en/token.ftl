# espelho token status: a store's token, password and logins, as far as the database knows.

token-none = token: none is kept
token-foreign = token: one of another credential or marketplace is kept, which is not used
token-kept = token: kept since { $obtained }, expires at { $expires }
token-expired = token: kept since { $obtained }, expired at { $expired }
token-password-unknown = password: unknown; no login of the last week is on record
token-password-unanswered = password: unknown; the login at { $at } has no answer on record
token-password-accepted = password: accepted at { $at } ({ $reason })
token-password-changed = password: not proved; a login proved it at { $at }, and its file was written after that, at { $changed }. To prove it: espelho doctor --login
token-password-refused = password: refused by the marketplace. Correct it, then: espelho doctor --login
token-password-refused-since = password: refused by the marketplace since { $since }. Correct it, then: espelho doctor --login
token-password-corrected = password: not proved; the marketplace refused the one before at { $at }, and its file was written since, at { $changed }. To prove it: espelho doctor --login
token-login-first = first login
token-login-renewal = renewal
token-login-outage = the token before was refused after an outage
token-login-401 = the token before was refused
token-next-now = next login: allowed now
token-next-at = next login: allowed at { $at } (the marketplace limits logins a minute)
token-next-forced = next login for a refused token: allowed at { $at } (another program uses the credential)
