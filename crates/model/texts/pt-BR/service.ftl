# A linha de estado do serviço (systemctl status espelho).

service-stopping = parando: termina o que está em andamento
service-stores = { $held } de { $all ->
        [one] { $all } loja
       *[other] { $all } lojas
    } nesta instância
service-recent = conciliação mais antiga há menos de 1 min
service-oldest = conciliação mais antiga há { $age }
service-first = primeira conciliação em andamento
service-well = sem erros
service-problem = 1 problema: { $first }
service-problems = { $count } problemas, o primeiro: { $first }
service-hangs = parou na tarefa { $lane } há { $seconds }
service-store-hangs = { $store }: parou na tarefa { $lane } há { $seconds }
