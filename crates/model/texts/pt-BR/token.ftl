# espelho token status: token, senha e logins de uma loja, até onde o banco sabe.

token-none = token: nenhum guardado
token-foreign = token: há um de outra credencial ou de outro marketplace, que não é usado
token-kept = token: guardado desde { $obtained }, vence em { $expires }
token-expired = token: guardado desde { $obtained }, venceu em { $expired }
token-password-unknown = senha: desconhecida; nenhum login da última semana está registrado
token-password-unanswered = senha: desconhecida; o login de { $at } não tem resposta registrada
token-password-accepted = senha: aceita em { $at } ({ $reason })
token-password-changed = senha: não provada; um login a provou em { $at }, e o arquivo dela foi escrito depois, em { $changed }. Para provar: espelho doctor --login
token-password-refused = senha: recusada pelo marketplace. Corrija e rode: espelho doctor --login
token-password-refused-since = senha: recusada pelo marketplace desde { $since }. Corrija e rode: espelho doctor --login
token-password-corrected = senha: não provada; o marketplace recusou a anterior em { $at }, e o arquivo dela foi escrito depois, em { $changed }. Para provar: espelho doctor --login
token-login-first = primeiro login
token-login-renewal = renovação
token-login-outage = o token anterior foi recusado depois de uma interrupção
token-login-401 = o token anterior foi recusado
token-next-now = próximo login: permitido agora
token-next-at = próximo login: permitido em { $at } (o marketplace limita os logins por minuto)
token-next-forced = próximo login por token recusado: permitido em { $at } (outro programa usa a credencial)
