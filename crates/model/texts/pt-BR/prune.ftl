# espelho prune: o que sai de cada tabela.

prune-done = Apagado:
prune-dry = Seria apagado (--dry-run; nada foi mudado):
prune-line = { $table }: { $rows ->
        [1] { $rows } registro
       *[other] { $rows } registros
    }, { $size } bytes, de antes de { $before }
prune-kept-changes = changes: mantida; com retention.changes_days ou --older-than sai o que todo consumidor confirmou (nada, sem consumidor)
prune-kept-label-files = label_files: mantida; labels.keep_days não está definido
prune-kept-sync-runs = sync_runs: mantida; retention.runs_days não está definido
prune-kept-commands = commands: mantida; retention.commands_days não está definido
prune-kept-messages = messages: mantidas; retention.messages_days não está definido
prune-kept-raw = raw: mantido; retention.raw_days não está definido
prune-left = label_files: { $rows ->
        [1] { $rows } arquivo
       *[other] { $rows } arquivos
    } de { $store } ficam para o processo que tem a loja; um serviço os remove dentro de uma hora
