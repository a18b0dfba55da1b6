# Como algo de fora falha, em poucas frases que são sempre as mesmas.

symptom-name-unknown = o nome não foi encontrado no DNS
symptom-no-connection = a conexão não foi aceita
symptom-no-trust = o certificado ou o TLS não foi aceito
symptom-timed-out = sem resposta dentro do prazo
symptom-cut-off = a conexão caiu antes do fim da resposta
symptom-status = respondeu com HTTP { $status }
symptom-not-readable = a resposta não é JSON da API (uma página, um proxy?)
symptom-too-large = a resposta é grande demais
symptom-refused = respondeu com o erro { $code }
symptom-file = o arquivo { $file }
symptom-other = outra falha
