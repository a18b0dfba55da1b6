# O que a configuração não pode ter.

check-address-placeholder = { $key } "{ $address }" é o endereço do exemplo: ali não há ninguém.
    .next = Escreva o endereço verdadeiro, ou environment = "sandbox" para experimentar.
check-secret-exposed = Outros usuários desta máquina podem ler { $file } (modo { $mode })
    .next = chmod 600 { $file }; no serviço do pacote, ele tem de ser do serviço: sudo chown espelho { $file } && sudo chmod 600 { $file }
