# espelho prune: o que sai de cada tabela.

prune-done = Apagado:
prune-dry = Seria apagado (--dry-run; nada foi mudado):
prune-line = { $table }: { $rows ->
        [1] { $rows } registro
       *[other] { $rows } registros
    }, { $size } bytes, de antes de { $before }
prune-kept-changes = changes: mantida; com --older-than sai o que todo consumidor confirmou (nada, sem consumidor)
prune-kept-label-files = label_files: mantida; labels.keep_days não está definido
prune-left = label_files: { $rows ->
        [1] { $rows } arquivo
       *[other] { $rows } arquivos
    } de { $store } ficam para o processo que tem a loja; um serviço os remove dentro de uma hora
