\d
\dt
\di
\ds
\dv
\d nosuch
\dt nosuch
