# O marketplace e o caminho até ele. O que ele mesmo disse vem entre aspas.

api-setup = A conexão com o marketplace não pode ser preparada: “{ $problem }”
    .next = Corrija o arquivo da loja e confira com: espelho check; em uma máquina sem certificados: sudo apt-get install ca-certificates
api-unreachable = Sem conexão com { $host }.
    .next = O espelho tenta de novo sozinho. Se durar, confira base_url, o DNS e a rede.
api-interrupted = A resposta do marketplace não chegou inteira.
    .next = O espelho tenta de novo sozinho.
api-too-large = O marketplace respondeu mais de { $mib } MiB de uma vez.
    .next = Avise o suporte do marketplace: a resposta é grande demais.
api-unreadable = O marketplace respondeu { $status } com algo que não é da API ({ $content }).
    .next = Em geral é um proxy ou uma página de manutenção: o espelho tenta de novo sozinho. Se durar, confira base_url.
api-unexpected = O marketplace respondeu de um jeito que a documentação da API não prevê: “{ $problem }”
    .next = Avise quem mantém o espelho, com este texto.
api-address-refused = { $kind ->
        [hosts] O endereço do arquivo fica em um servidor que labels.hosts não cita ({ $file }).
       *[other] O endereço do arquivo não pode ser usado ({ $file }).
    }
    .next = { $kind ->
        [hosts] Se o servidor é do marketplace, acrescente-o a labels.hosts no arquivo da loja.
       *[other] Fora do sandbox, arquivos só vêm por https e de servidores públicos: avise o suporte do marketplace.
    }
api-address-expired = O endereço do arquivo foi recusado ({ $status }); provavelmente venceu.
    .next = O espelho pede outro endereço sozinho; cada um vale 15 minutos.
api-file-refused = O servidor de arquivos do marketplace respondeu { $status }.
    .next = O espelho tenta de novo sozinho.
api-refused = { $words ->
        [none] O marketplace recusou ({ $status }).
       *[other] O marketplace recusou ({ $status }): “{ $words }”
    }
    .next = { $kind ->
        [both-directions] Um ajuste soma ou subtrai: envie só um dos dois.
        [unauthorized] O token não foi aceito: confira a credencial da loja com espelho doctor
        [missing-abilities] Peça no portal uma credencial com { $abilities ->
            [none] a permissão que falta; quais faltam: espelho doctor
           *[other] esta permissão: { $abilities }.
        }
        [store-page-closed] Altere a página da loja no portal: a API ainda não aceita integrações.
        [not-found] Confira o código: o marketplace não conhece este registro nesta loja.
        [image-in-use] Tire antes a imagem do produto, do anúncio ou da página da loja que a usa.
        [impossible-transition] Veja a situação atual do pedido e peça uma mudança que ela permita.
        [invalid-fields] Corrija os campos indicados: o espelho envia de novo sozinho.
        [campaign-closed] O prazo de adesão acabou: nada mais a fazer nesta campanha.
        [substore] Esta subloja espelha os produtos da loja principal: cadastre o produto lá.
        [label-not-ready] A etiqueta ainda está sendo gerada: o espelho olha de novo sozinho.
        [fiscal-gate] Emita a NF-e ou a declaração de conteúdo.
        [listing-not-ready] Corrija o anúncio como indicado: o espelho envia de novo sozinho.
        [too-many] Nada a fazer: o espelho espera e continua sozinho. Se for constante, outro programa gasta o limite desta loja.
        [server] O marketplace está com problemas: o espelho tenta de novo sozinho.
        [no-webhook] Configure [webhook] no arquivo da loja e recarregue: sudo espelho reload. Depois: espelho retry { $row }; para desistir: espelho ignore { $row }
       *[other] Leia o que o marketplace diz e corrija o pedido.
    }
api-login-refused = { $words ->
        [none] O login de { $username } foi recusado ({ $status }).
       *[other] O login de { $username } foi recusado ({ $status }): “{ $words }”
    }
    .next = { $status ->
        [422] Corrija no arquivo da loja o campo que o marketplace recusa: username ou senha, se faltam; webhook.url é webhook.public_url, um endereço https que a internet alcança.
       *[other] Confira username e a senha da credencial da loja no portal.
    }
api-foreign-login = O token de { $username } foi derrubado { $times } vezes em uma hora: outro programa usa a mesma credencial.
    .next = Crie no portal uma credencial para cada programa.
api-not-ours = Outra instância assumiu a loja.
    .next = Nada se perdeu: quem assumiu a loja continua.
api-no-token-record = O token da loja não pôde ser lido ou gravado no banco de dados.
    .next = Confira o banco de dados com espelho doctor
api-no-budget-record = O limite de chamadas da loja não pôde ser lido ou gravado no banco de dados.
    .next = Confira o banco de dados com espelho doctor
