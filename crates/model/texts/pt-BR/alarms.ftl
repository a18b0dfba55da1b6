# Alarmes (contrato 4). A mensagem diz o que há; `.next` diz o próximo passo.

alarm-service-stopped = O serviço está parado: nenhum sinal de vida há { $seconds }.
    .next = systemctl start espelho
