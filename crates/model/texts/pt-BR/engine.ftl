# O que o trabalho do próprio espelho diz nas linhas de comandos.
engine-label-files-awaited = as etiquetas estão prontas no marketplace; falta baixar { $left ->
        [1] um arquivo
       *[other] { $left } arquivos
    }
    .next = nada a fazer: leva alguns segundos
engine-label-file-blocked = o arquivo da etiqueta não chega: { $cause }
    .next = { $step }
engine-label-files-missing = as etiquetas estão prontas no marketplace, e os arquivos não chegaram em { $waited }
    .next = veja labels.formats, labels.days e labels.directory na configuração; espelho retry { $row } espera de novo
engine-label-format-off = o formato { $format } não está em labels.formats: o arquivo não seria baixado
    .next = acrescente { $format } a labels.formats na configuração da loja; depois espelho retry { $row }
engine-not-in-dry-run = Um ensaio não lê isto.
engine-labels-off = O arquivo da loja não pede etiquetas ([labels]): nada a baixar.
