# How something elsewhere fails, in a few phrases that are the same each time.

symptom-name-unknown = the name was not found in DNS
symptom-no-connection = the connection was not accepted
symptom-no-trust = the certificate or TLS was not accepted
symptom-timed-out = no answer in time
symptom-cut-off = the connection ended before the answer did
symptom-status = answered with HTTP { $status }
symptom-not-readable = the answer is no JSON of the API (a page, a proxy?)
symptom-too-large = the answer is too large
symptom-refused = answered with the error { $code }
symptom-file = the file { $file }
symptom-other = another failure
