# A porta em que o serviço deveria escutar está ocupada ou é recusada.

ports-taken-by-service = { $key } { $address }: outro espelho (processo { $process }, versão { $version }) já atende ali.
    .next = Se é o de outra instalação, escreva outra porta em { $key } no espelho.toml. Se é o desta, ele já faz o trabalho: espelho status. Para reiniciá-lo: sudo systemctl restart espelho
ports-taken-by-espelho = { $key } { $address }: outro espelho (processo { $process }) já escuta ali.
    .next = Encerre-o (sudo systemctl stop espelho.socket espelho, ou kill { $process }) ou escreva outra porta em { $key } no espelho.toml.
ports-taken-by-program = { $key } { $address }: o programa { $program } (processo { $process }) já escuta ali.
    .next = Encerre-o (kill { $process }) ou escreva outra porta em { $key } no espelho.toml.
ports-taken = { $key } { $address }: outro programa já escuta ali.
    .next = Veja qual é: sudo ss -ltnp 'sport = :{ $port }'. Encerre-o ou escreva outra porta em { $key } no espelho.toml.
ports-listens = { $key } { $address }: um programa escuta ali, e não responde como este serviço.
    .next = Veja qual é: sudo ss -ltnp 'sport = :{ $port }'. Se é o espelho: sudo systemctl restart espelho. Se é outro, encerre-o ou escreva outra porta em { $key } no espelho.toml.
ports-not-permitted = { $key } { $address }: o sistema não permite escutar ali.
    .next = Portas abaixo de 1024 são do root: escreva uma porta a partir de 1024 em { $key } no espelho.toml.
ports-not-of-this-machine = { $key } { $address }: este endereço não é desta máquina.
    .next = Escreva em { $key } no espelho.toml um endereço que "ip address" mostra; 127.0.0.1 sempre existe.
ports-refused = { $key } { $address }: não dá para escutar ali (“{ $error }”).
    .next = Escreva outro endereço ou outra porta em { $key } no espelho.toml.
