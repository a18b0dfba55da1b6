# A linha de estado do serviço (systemctl status espelho).

service-waits = espera pela loja { $store }, que está com { $owner }
service-stopping = parando: termina o que está em andamento
service-stores = { $held } de { $all ->
        [1] { $all } loja
       *[other] { $all } lojas
    } nesta instância
service-recent = conciliação mais antiga há menos de 1 min
service-oldest = conciliação mais antiga há { $age }
service-first = primeira conciliação em andamento
service-well = sem erros
service-unproved = sem prova de que tudo vai bem
service-problem = 1 problema: { $first }
service-problems = { $count } problemas, o primeiro: { $first }
service-hangs = parado há { $seconds } na tarefa { $lane ->
    [outbox] de envios
    [hinted] de avisos de webhook
    [swept] de leitura de registros
    [sweep] de leituras periódicas
    [catch_up] de recuperação do atraso
    [reconcile] de conciliação
    [audit] de auditoria
    [labels] de etiquetas
    [inbox] de webhooks recebidos
    [inbox_writer] de gravação de webhooks
    [receiver] de recepção de webhooks
    [webhooks] de teste de webhooks
   *[other] “{ $lane }”
}
service-store-hangs = { $store }: { service-hangs }
