# Se a página se renova sozinha; `.next` é o link para o contrário.

renewal-renews = Esta página se renova a cada { $seconds } s.
    .next = Pausar
renewal-paused = Esta página está em pausa.
    .next = Continuar
