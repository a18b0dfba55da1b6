# Arquivos CSV de estoque e preços.

files-bad-lines = { $file }: { $lines }
    .next = Nada foi importado: corrija estas linhas e importe de novo.
files-report-head = Nada deste arquivo foi importado. Corrija estas linhas e coloque o arquivo na pasta de novo:
files-line = linha { $line }: { $problem }
files-more-lines = { $more ->
        [1] e mais { $more } linha
       *[other] e mais { $more } linhas
    }
files-too-large = o arquivo tem mais de { $most } bytes; divida-o em vários
files-unreadable = o arquivo não pode ser lido: “{ $problem }”
files-missing = o arquivo não existe
files-line-unreadable = a linha não pode ser lida (UTF-8? número de colunas?): “{ $problem }”
files-panicked = o próprio espelho falhou nesta linha, em { $place }; envie a linha a quem o mantém
files-poisoned = o espelho terminou duas vezes ao ler este arquivo; envie o arquivo a quem o mantém
files-missing-column = falta a coluna { $column }
files-unknown-column = a coluna “{ $column }” não é conhecida
files-column-twice = a coluna { $column } aparece duas vezes
files-row-twice = { $key } já está na linha { $first }
files-no-price = faltam price e discount_percent; informe um deles
files-ambiguous = { $field } é “{ $value }”: escreva { $thousands } ou { $decimals }
files-whole-number = { $field } é “{ $value }”, que não é um número inteiro
files-four-measures = informe as quatro medidas package_*, ou nenhuma
